// SPDX-License-Identifier: BSD-2-Clause
// CompletionRing: the bounded queue inside a completion queue. Many producers, many consumers, no
// locks. A header and its cells lie behind each other in one block of this process's memory.
//
// Writers and pairs: a producer claims position p by moving `tail` from p to p + 1, writes the cell
// (p modulo capacity), and publishes it by storing p + 1 as its number. A consumer copies cells
// whose number is right and then claims them by moving `head`; if another consumer moved it meanwhile, the
// copy is dropped. A consumer that dies in between has done nothing.
// Pairs: the number's store with the consumer's load of it (the cell's words travel between them);
// the move of `head` with the producer's load of it (a cell is written anew only after it was
// copied). Full: tail - head == capacity. Empty: tail == head. Closed: a bit of `tail` that no position reaches, with
// which it is too far from the head for any producer's claim.
//
// A cell that is claimed and not published hides those behind it. A consumer that finds one waits for its number: were
// it to say "empty", a thread could go to sleep over a completion behind it, or take a later event before it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "hca/types.h"

namespace softdat::simnic {

struct RingHeader {
  alignas(64) std::uint64_t tail;
  alignas(64) std::uint64_t head;
};

struct CompletionCell {
  std::uint64_t number;  // 0: never written
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
    // Sequentially consistent, because the caller then looks for sleepers (EventCount::notify).
    Word(cell(position).number).store(position + 1, std::memory_order_seq_cst);
  }

  // Refuses producers from now on, and waits for those that have claimed a cell. open() undoes it.
  void close();
  void open();
  // Puts these into a ring that is empty, and closed or unknown to producers; then opens it. They fit.
  void refill(std::span<const hca::Completion> completions);

  // It was empty at some moment of the call, and not closed.
  bool looks_empty() const {
    const std::uint64_t position = Word(header_->head).load(std::memory_order_acquire);
    return Word(cell(position).number).load(std::memory_order_seq_cst) != position + 1 &&
           Word(header_->tail).load(std::memory_order_seq_cst) == position;
  }
  // Takes the oldest. False: it was empty at some moment of the call.
  [[gnu::always_inline]] bool pop(hca::Completion& out) {
    Word head(header_->head);
    std::uint64_t position = head.load(std::memory_order_acquire);
    for (;;) {
      CompletionCell& oldest = cell(position);
      if (Word(oldest.number).load(std::memory_order_seq_cst) == position + 1) {
        out = read(oldest);
        if (head.compare_exchange_weak(position, position + 1, std::memory_order_acq_rel)) return true;
      } else if ((position = await_oldest(position)) == kNone) {
        return false;
      }
    }
  }
  // Takes up to out.size() at once, oldest first.
  std::size_t pop(std::span<hca::Completion> out);

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
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  static std::uint64_t pack(const hca::Completion& completion) {
    return completion.length | std::uint64_t{static_cast<std::uint8_t>(completion.status)} << 32 |
           std::uint64_t{static_cast<std::uint8_t>(completion.opcode)} << 40 |
           std::uint64_t{completion.solicited} << 48 | std::uint64_t{completion.srq_account} << 49;
  }
  // The words are atomic because a consumer that is about to lose its claim may read them while they
  // are written anew.
  static void write(CompletionCell& cell, const hca::Completion& completion) {
    Word(cell.wr_id).store(completion.wr_id, std::memory_order_relaxed);
    Word(cell.qp_context).store(completion.qp_context, std::memory_order_relaxed);
    Word(cell.details).store(pack(completion), std::memory_order_relaxed);
    Word(cell.extra)
        .store(completion.invalidated | std::uint64_t{completion.immediate} << 32, std::memory_order_relaxed);
  }
  static hca::Completion read(CompletionCell& cell) {
    const std::uint64_t details = Word(cell.details).load(std::memory_order_relaxed);
    const std::uint64_t extra = Word(cell.extra).load(std::memory_order_relaxed);
    return {.wr_id = Word(cell.wr_id).load(std::memory_order_relaxed),
            .qp_context = Word(cell.qp_context).load(std::memory_order_relaxed),
            .length = static_cast<std::uint32_t>(details),
            .status = static_cast<hca::CompletionStatus>(static_cast<std::uint8_t>(details >> 32)),
            .opcode = static_cast<hca::CompletionOpcode>(static_cast<std::uint8_t>(details >> 40)),
            .solicited = (details >> 48 & 1) != 0,
            .invalidated = static_cast<std::uint32_t>(extra),
            .srq_account = static_cast<std::uint16_t>(details >> 49),
            .immediate = static_cast<std::uint32_t>(extra >> 32)};
  }

  struct Free {
    void operator()(void* memory) const;
  };
  CompletionCell& cell(std::uint64_t position) const { return cells_[position & mask_]; }
  std::size_t copy_from(std::uint64_t position, std::span<hca::Completion> out) const;
  // The cell at the head, `position`, has not its number. Waits until it has, or until the head moves. Returns the
  // head, or kNone if the ring was empty.
  std::uint64_t await_oldest(std::uint64_t position) const;
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
