// SPDX-License-Identifier: BSD-2-Clause
// WorkRing: the requests of one direction of a queue pair, from their posting to their completion.
// The device gives back the address of an entry as the number of the work.
//
// Who writes what: entries and tail_ by the poster, under its queue pair's mutex, before the request
// is handed to the device; head_ by whoever takes the completion, under the completion queue's mutex.
// An entry belongs to the poster again once head_ has passed it.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/assert.h"
#include "base/words.h"
#include "hca/device.h"
#include "verbs/memory_window.h"

namespace softdat::verbs {

class QueuePair;
class SharedReceiveQueue;

struct WorkEntry {
  QueuePair* queue_pair = nullptr;       // null: of a shared receive queue
  SharedReceiveQueue* shared = nullptr;  // where the receive was posted to, if to such
  std::uint64_t cookie = 0;
  std::uint64_t position = 0;  // in its ring; of a shared queue's, its slot
  std::uint32_t length = 0;
  std::uint32_t flags = 0;  // SendFlag
  hca::CompletionOpcode opcode = hca::CompletionOpcode::kSend;
  bool is_receive = false;
  bool is_counted = false;                // CompletionQueue::count_unwanted() has counted it (false in a free entry)
  bool is_usual = false;                  // see QueuePair::take_usual()
  std::shared_ptr<WindowState> window{};  // kBind: of this window ... (null in an entry that is free)
  hca::WindowBinding binding{};           // ... to this
  bool is_with_device = false;            // false: posted to a broken connection, only to be flushed

  // REQUIRES an entry that is in use. An invalidation is the backend's own request, sent before a bind; the consumer is
  // not told of its end.
  bool is_invalidation() const { return opcode == hca::CompletionOpcode::kBind && window == nullptr; }
};

// For people: what else is known of a request. Written and read as its entry is.
struct WorkNote {
  const void* posted = nullptr;  // by which call of the consumer's
  std::uint64_t address = 0;     // the peer's
  std::uint32_t key = 0;
};

class WorkRing {
 public:
  // All entries are of that queue pair and direction. Throws std::bad_alloc.
  explicit WorkRing(std::uint32_t capacity, QueuePair* owner = nullptr, bool is_receive = false)
      : capacity_(capacity),
        entries_(std::bit_ceil(capacity)),
        mask_(entries_.size() - 1),
        notes_(base::are_words_wanted() ? entries_.size() : 0) {
    for (WorkEntry& entry : entries_) {
      entry.queue_pair = owner;
      entry.is_receive = is_receive;
    }
  }

  std::uint32_t outstanding() const {
    return static_cast<std::uint32_t>(tail_.load(std::memory_order_acquire) - head_.load(std::memory_order_acquire));
  }
  bool is_full() const { return outstanding() >= capacity_; }
  bool is_empty() const { return outstanding() == 0; }

  // Poster. Requires !is_full(); the entry counts once commit()ted.
  WorkEntry& next() {
    SOFTDAT_DEBUG_CHECK(!is_full(), "a ring has room for the next request", outstanding(), capacity_);
    const std::uint64_t position = tail_.load(std::memory_order_relaxed);
    WorkEntry& entry = entries_[position & mask_];
    entry.position = position;
    entry.is_usual = false;
    return entry;
  }
  // The entry that next() gave last. Nobody else writes tail_, so neither needs a locked instruction, unless the poster
  // goes on to look at something whose writer looks at outstanding().
  void commit(const WorkEntry& entry, std::memory_order order = std::memory_order_release) {
    SOFTDAT_DEBUG_CHECK(entry.position == tail_.load(std::memory_order_relaxed), "only the next request is committed",
                        entry.position, tail_.load(std::memory_order_relaxed));
    tail_.store(entry.position + 1, order);
  }
  // Takes the last one back that was committed and that nobody has seen.
  void retract() {
    SOFTDAT_DEBUG_CHECK(!is_empty(), "a request that is taken back is outstanding");
    tail_.store(tail_.load(std::memory_order_relaxed) - 1, std::memory_order_release);
  }

  // The oldest. Requires !is_empty(), and that nobody else completes.
  WorkEntry& front() { return at(0); }
  WorkEntry& at(std::uint32_t index) { return entries_[(head_.load(std::memory_order_relaxed) + index) & mask_]; }
  // All up to this one are complete.
  void complete(const WorkEntry& entry) {
    SOFTDAT_DEBUG_CHECK(entry.position - head_.load(std::memory_order_relaxed) < outstanding(),
                        "a request completes once, after those posted before it", entry.position,
                        head_.load(std::memory_order_relaxed));
    head_.store(entry.position + 1, std::memory_order_release);
  }

  // Null: words are not wanted.
  WorkNote* note_of(const WorkEntry& entry) { return notes_.empty() ? nullptr : &notes_[place_of(entry)]; }

  // Entries have places, of which there may be more than can be outstanding.
  std::size_t places() const { return entries_.size(); }
  std::size_t place_of(const WorkEntry& entry) const { return entry.position & mask_; }

 private:
  const std::uint32_t capacity_;
  std::vector<WorkEntry> entries_;  // a power of two of them
  const std::uint64_t mask_;
  std::vector<WorkNote> notes_;  // one for each entry, or none at all
  std::atomic<std::uint64_t> head_{0};
  std::atomic<std::uint64_t> tail_{0};
};

}  // namespace softdat::verbs
