// SPDX-License-Identifier: BSD-2-Clause
// CompletionRing: the bounded queue inside a completion queue. Many producers, one consumer at a time, no locks. A
// header and its cells lie behind each other in one block of this process's memory.
//
// Writers and pairs: a producer claims position p by moving `tail` from p to p + 1, writes the cell (p modulo
// capacity), and publishes it by storing p + 1 as its number. The consumer copies the cell at `head` if its number is
// right, and then moves `head`.
// Pairs: the number's store with the consumer's load of it (the cell's words travel between them); the consumer's store
// of `head` with the producer's load of it (a cell is written anew only after it was copied). Full: tail - head ==
// capacity. Empty: tail == head. Closed: a bit of `tail` that no position reaches, with which it is too far from the
// head for any producer's claim.
//
// A cell that is claimed and not published hides those behind it. A consumer that finds one waits for its number: were
// it to say "empty", a thread could go to sleep over a completion behind it, or take a later event before it.
//
// A claim is sequentially consistent, because a producer looks for sleepers afterwards (EventCount::notify), and a
// thread that is about to sleep looks at `tail` (size()).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "hca/types.h"

namespace softdat::simnic {

struct RingHeader {
  alignas(64) std::uint64_t tail;
  alignas(64) std::uint64_t head;
};

struct CompletionCell {
  std::uint64_t number;  // 0: never written; the other words are read only after it, by the consumer
  std::uint64_t wr_id;
  std::uint64_t qp_context;
  std::uint64_t details;  // length, status, opcode, solicited, srq_account
  std::uint64_t extra;    // invalidated, immediate
};

class CompletionRing {
 public:
  // Rounds up to a power of two. Throws std::bad_alloc.
  explicit CompletionRing(std::size_t capacity);

  std::size_t capacity() const { return mask_ + 1; }

  enum class Pushed : std::uint8_t { kYes, kFull, kClosed };
  // Unless kYes nothing is changed.
  [[gnu::always_inline]] Pushed push(const hca::Completion& completion) {
    std::uint64_t position;
    const Pushed claimed = claim(position);
    if (claimed == Pushed::kYes) [[likely]]
      publish(position, completion);
    return claimed;
  }
  // The two steps of push(). After kYes the caller must call publish() at once, because consumers wait for it.
  [[gnu::always_inline]] Pushed claim(std::uint64_t& position) {
    Word tail(header_->tail);
    position = tail.load(std::memory_order_relaxed);
    do {
      // A stale position may lie behind the head, hence signed; the exchange then fails.
      const auto waiting = static_cast<std::int64_t>(position - Word(header_->head).load(std::memory_order_acquire));
      if (waiting >= static_cast<std::int64_t>(high_water_.load(std::memory_order_relaxed)) && !rise_above(waiting))
          [[unlikely]]
        return (position & kClosedBit) != 0 ? Pushed::kClosed : Pushed::kFull;
    } while (!tail.compare_exchange_weak(position, position + 1, std::memory_order_seq_cst, std::memory_order_relaxed));
    return Pushed::kYes;
  }
  [[gnu::always_inline]] void publish(std::uint64_t position, const hca::Completion& completion) {
    write(cell(position), completion);
    Word(cell(position).number).store(position + 1, std::memory_order_release);
  }

  // By the consumer: refuses producers from now on, and waits for those that have claimed a cell. open() undoes it.
  void close();
  void open();
  // Adds a completion. REQUIRES: there is room, and the ring is closed, or no producer knows it.
  void put(const hca::Completion& completion);

  // By the consumer: takes the oldest. False: the ring was empty at some moment of the call.
  [[gnu::always_inline]] bool pop(hca::Completion& out) {
    Word head(header_->head);
    const std::uint64_t position = head.load(std::memory_order_relaxed);
    CompletionCell& oldest = cell(position);
    if (!is_published(position) && !await_oldest(position)) return false;
    out = read(oldest);
    head.store(position + 1, std::memory_order_release);
    return true;
  }
  // By the consumer: whether pop() would take nothing.
  bool looks_empty() const {
    const std::uint64_t position = Word(header_->head).load(std::memory_order_relaxed);
    return !is_published(position) && Word(header_->tail).load(std::memory_order_seq_cst) == position;
  }

  bool is_half_full() const { return size() > capacity() / 2; }
  // Any thread. The most completions that push() has had waiting at once.
  std::size_t high_water() const { return high_water_.load(std::memory_order_relaxed); }

  // Claimed by producers and not by consumers, at some moment of the call.
  std::size_t size() const;

 private:
  using Word = std::atomic_ref<std::uint64_t>;
  static_assert(Word::is_always_lock_free);

  // To a producer it looks as if the ring were full.
  static constexpr std::uint64_t kClosedBit = std::uint64_t{1} << 62;

  // Where the fields of CompletionCell::details begin, behind the length. The highest bits stay free. GCC loads a field
  // that reaches them as a whole word, also from a stack slot into which it has just stored the field alone: a
  // store-forwarding stall.
  static constexpr unsigned kAccountBit = 32;
  static constexpr unsigned kSolicitedBit = 48;
  static constexpr unsigned kStatusBit = 49;
  static constexpr unsigned kOpcodeBit = 54;
  static constexpr std::uint64_t kSmallMask = 0x1f;  // of the status and of the opcode
  static_assert(static_cast<unsigned>(hca::CompletionStatus::kBindFailed) <= kSmallMask &&
                static_cast<unsigned>(hca::CompletionOpcode::kRecvDatagram) <= kSmallMask);

  static std::uint64_t pack(const hca::Completion& completion) {
    return completion.length | std::uint64_t{completion.srq_account} << kAccountBit |
           std::uint64_t{completion.solicited} << kSolicitedBit |
           std::uint64_t{static_cast<std::uint8_t>(completion.status)} << kStatusBit |
           std::uint64_t{static_cast<std::uint8_t>(completion.opcode)} << kOpcodeBit;
  }
  static void write(CompletionCell& cell, const hca::Completion& completion) {
    cell.wr_id = completion.wr_id;
    cell.qp_context = completion.qp_context;
    cell.details = pack(completion);
    cell.extra = completion.invalidated | std::uint64_t{completion.immediate} << 32;
  }
  static hca::Completion read(const CompletionCell& cell) {
    const std::uint64_t details = cell.details;
    return {.wr_id = cell.wr_id,
            .qp_context = cell.qp_context,
            .length = static_cast<std::uint32_t>(details),
            .status = static_cast<hca::CompletionStatus>(details >> kStatusBit & kSmallMask),
            .opcode = static_cast<hca::CompletionOpcode>(details >> kOpcodeBit & kSmallMask),
            .solicited = (details >> kSolicitedBit & 1) != 0,
            .invalidated = static_cast<std::uint32_t>(cell.extra),
            .srq_account = static_cast<std::uint16_t>(details >> kAccountBit),
            .immediate = static_cast<std::uint32_t>(cell.extra >> 32)};
  }

  struct Free {
    void operator()(void* memory) const;
  };
  CompletionCell& cell(std::uint64_t position) const { return cells_[position & mask_]; }
  bool is_published(std::uint64_t position) const {
    return Word(cell(position).number).load(std::memory_order_acquire) == position + 1;
  }
  // By the consumer: waits until a producer has published the cell at the head, `position`. False: the ring was empty.
  bool await_oldest(std::uint64_t position) const;
  bool rise_above(std::int64_t waiting);

  const std::uint64_t mask_;
  const std::unique_ptr<void, Free> block_;
  RingHeader* const header_;
  CompletionCell* const cells_;
  // Never above the capacity. Where producers look for room it stands in for the capacity, so that keeping it costs
  // nothing.
  std::atomic<std::size_t> high_water_{0};
};

}  // namespace softdat::simnic
