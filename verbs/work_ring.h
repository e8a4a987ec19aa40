// SPDX-License-Identifier: BSD-2-Clause
// WorkRing: the requests of one direction of a queue pair, from their posting to their completion.
// The device gives back the address of an entry as the number of the work.
//
// Who writes what: entries and tail_ by the poster, under its queue pair's mutex, before the request
// is handed to the device; head_ by whoever takes the completion, under the completion queue's mutex.
// An entry belongs to the poster again once head_ has passed it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

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
  std::shared_ptr<WindowState> window{};  // kBind: of this window ...
  hca::WindowBinding binding{};           // ... to this
  bool is_with_device = false;            // false: posted to a broken connection, only to be flushed
};

class WorkRing {
 public:
  // Throws std::bad_alloc.
  explicit WorkRing(std::uint32_t capacity) : entries_(capacity) {}

  std::uint32_t outstanding() const {
    return static_cast<std::uint32_t>(tail_.load(std::memory_order_acquire) - head_.load(std::memory_order_acquire));
  }
  bool is_full() const { return outstanding() >= entries_.size(); }
  bool is_empty() const { return outstanding() == 0; }

  // Poster. Requires !is_full(); the entry counts once commit()ted.
  WorkEntry& next() {
    const std::uint64_t position = tail_.load(std::memory_order_relaxed);
    WorkEntry& entry = entries_[position % entries_.size()];
    entry.position = position;
    return entry;
  }
  void commit() { tail_.fetch_add(1, std::memory_order_seq_cst); }
  // Takes the last one back that was committed and that nobody has seen.
  void retract() { tail_.fetch_sub(1, std::memory_order_seq_cst); }

  // The oldest. Requires !is_empty(), and that nobody else completes.
  WorkEntry& front() { return entries_[head_.load(std::memory_order_relaxed) % entries_.size()]; }
  WorkEntry& at(std::uint32_t index) {
    return entries_[(head_.load(std::memory_order_relaxed) + index) % entries_.size()];
  }
  // All up to this one are complete.
  void complete(const WorkEntry& entry) { head_.store(entry.position + 1, std::memory_order_release); }

  std::size_t index_of(const WorkEntry& entry) const { return entry.position % entries_.size(); }

 private:
  std::vector<WorkEntry> entries_;
  std::atomic<std::uint64_t> head_{0};
  std::atomic<std::uint64_t> tail_{0};
};

}  // namespace softdat::verbs
