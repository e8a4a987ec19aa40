// SPDX-License-Identifier: BSD-2-Clause
// WorkQueue: one of a queue pair's two queues, a ring of posted requests with copies of their
// segments. All storage is taken at creation.
//
// The poster, with the queue's posting lock, writes posted_ after it has filled the slot. The holder of the queue
// pair's lane writes completed_ after it has copied what it needs of the slot. Each reads the other's word. Empty:
// posted_ == completed_; full: posted_ - completed_ == capacity(). high_water_ stands in for the capacity where posts
// look for room, so that keeping it costs nothing.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>

#include "base/assert.h"
#include "base/call.h"
#include "base/words.h"
#include "hca/segment_copy.h"
#include "hca/types.h"
#include "simnic/located.h"
#include "simnic/plain_array.h"

namespace softdat::simnic {

// Beside the flags of hca: the payload is already where it is to go.
inline constexpr std::uint16_t kPlaced = 1u << 15;

// A cache line: a deep queue of an idle endpoint is most of what the endpoint takes.
struct SendEntry {
  std::uint64_t wr_id;
  std::uint64_t remote_address;  // of a bind: the address of its WindowState
  std::uint64_t operand;         // of an atomic; immediate data
  std::uint64_t compare;
  std::uint32_t message_end;  // messages taken by the channel when this request was, itself included; the low half
  std::uint32_t rkey;
  std::uint32_t length;
  std::uint16_t flags;
  std::uint8_t segment_count;
  hca::SendOpcode opcode;
  ResolvedSegment found{};
};
static_assert(sizeof(SendEntry) == 64);

// Half a cache line: a deep queue of an idle endpoint is most of what the endpoint takes.
struct RecvEntry {
  std::uint64_t wr_id;
  std::uint32_t length;
  std::uint16_t flags;
  std::uint16_t segment_count;
  ResolvedSegment found{};
};
static_assert(sizeof(RecvEntry) == 32);

// Nearly always there is one.
inline void copy_segments(std::span<const hca::Segment> from, hca::Segment* to) {
  if (from.size() == 1) [[likely]]
    hca::copy_words(from.front(), *to);
  else
    std::copy(from.begin(), from.end(), to);
}

template <typename Entry>
class WorkQueue {
 public:
  // Rounds the capacity up to a power of two. Throws std::bad_alloc.
  WorkQueue(std::uint32_t capacity, std::uint32_t max_segments)
      : capacity_(std::bit_ceil(std::max(capacity, 1u))),
        max_segments_(max_segments),
        entries_(make_plain_array<Entry, hca::Segment>(capacity_, std::size_t{capacity_} * max_segments_)),
        segments_(reinterpret_cast<hca::Segment*>(entries_.get() + capacity_)),
        places_(base::are_words_wanted() ? std::make_unique<std::atomic<const void*>[]>(capacity_) : nullptr) {}

  std::uint32_t capacity() const { return capacity_; }
  std::uint32_t max_segments() const { return max_segments_; }

  // Any thread. Requests are numbered from 0 for the life of the queue.
  std::uint64_t posted() const { return posted_.load(std::memory_order_acquire); }
  std::uint64_t completed() const { return completed_.load(std::memory_order_acquire); }
  std::uint32_t outstanding() const {
    // Read in this order the difference is never negative.
    const std::uint64_t done = completed();
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(posted() - done, capacity_));
  }

  // With the posting lock. REQUIRES of push(): room, and at most `max_segments` segments.
  bool is_full() {
    const std::uint64_t waiting = posted_.load(std::memory_order_relaxed) - completed();
    return waiting >= high_water_.load(std::memory_order_relaxed) && !rise_above(waiting);
  }
  // Any thread. The most that were outstanding at once. is_full() raises it before the post that follows.
  std::uint32_t high_water() const { return high_water_.load(std::memory_order_relaxed); }
  void push(const Entry& entry, std::span<const hca::Segment> segments) {
    free_slot() = entry;
    publish(segments);
  }
  // The same in two steps, for a caller that fills the slot in place. publish() makes it visible.
  Entry& free_slot() { return entries_[posted_.load(std::memory_order_relaxed) & mask()]; }
  [[gnu::always_inline]] void publish(std::span<const hca::Segment> segments) {
    const std::uint64_t number = posted_.load(std::memory_order_relaxed);
    SOFTDAT_DEBUG_CHECK(segments.size() <= max_segments_, "a request has the segments that the queue has room for");
    copy_segments(segments, slot_segments(number));
    posted_.store(number + 1, std::memory_order_release);
  }

  // With the lane; of requests in [completed(), posted()).
  const Entry& at(std::uint64_t number) const { return entries_[number & mask()]; }
  Entry& at(std::uint64_t number) { return entries_[number & mask()]; }
  std::span<const hca::Segment> segments(std::uint64_t number) const {
    return {slot_segments(number), at(number).segment_count};
  }
  bool is_empty() const { return posted() == completed(); }

  // For people: which call of the consumer's is about to push, if words are wanted. Any thread; of several that post at
  // once the places may be exchanged.
  void note_place(const void* place) {
    const std::uint64_t number = posted();
    if (places_ != nullptr && number - completed() < capacity_) {
      places_[number & mask()].store(place, std::memory_order_relaxed);
    }
  }
  // The same of the call that the thread is in.
  void note_caller() {
    if (places_ != nullptr) [[unlikely]]
      note_place(base::calling_place());
  }
  // Of a request in [completed(), posted()); null: unknown.
  const void* place(std::uint64_t number) const {
    return places_ == nullptr ? nullptr : places_[number & mask()].load(std::memory_order_relaxed);
  }
  // The oldest leaves; its slot may be filled anew from then on.
  void drop_oldest() { completed_.store(completed_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
  Entry pop() {
    const Entry entry = at(completed_.load(std::memory_order_relaxed));
    drop_oldest();
    return entry;
  }

 private:
  // False: there is no room.
  [[gnu::cold, gnu::noinline]] bool rise_above(std::uint64_t waiting) {
    if (waiting >= capacity_) return false;
    high_water_.store(static_cast<std::uint32_t>(waiting) + 1, std::memory_order_relaxed);
    return true;
  }
  std::uint64_t mask() const { return capacity_ - 1; }
  hca::Segment* slot_segments(std::uint64_t number) const { return &segments_[(number & mask()) * max_segments_]; }

  // Fixed after construction.
  const std::uint32_t capacity_;
  const std::uint32_t max_segments_;
  const PlainArray<Entry> entries_;
  hca::Segment* const segments_;                              // behind the entries, in the same block
  const std::unique_ptr<std::atomic<const void*>[]> places_;  // null: words are not wanted
  std::atomic<std::uint64_t> posted_{0};
  std::atomic<std::uint64_t> completed_{0};
  std::atomic<std::uint32_t> high_water_{0};  // written with the posting lock; never above capacity_
};

// Moves the oldest request of `from` to the end of `to`, with the place of its post. REQUIRES: there is one, and `to`
// has room for it and its segments; the lane or baton of `from`, and the posting lock of `to`, if others post there.
template <typename Entry>
void move_oldest(WorkQueue<Entry>& from, WorkQueue<Entry>& to) {
  const std::uint64_t number = from.completed();
  to.note_place(from.place(number));
  to.push(from.at(number), from.segments(number));
  from.drop_oldest();
}

// With the baton and both queues' posting locks: moves all requests of `from` to the end of `to`. False, and nothing
// done, when there is no room.
template <typename Entry>
bool inherit(WorkQueue<Entry>& from, WorkQueue<Entry>& to) {
  if (from.is_empty()) return true;
  if (to.capacity() - to.outstanding() < from.outstanding() || to.max_segments() < from.max_segments()) return false;
  while (!from.is_empty()) {
    from.at(from.completed()).found = {};  // the owner of `to` may reach other memory
    move_oldest(from, to);
  }
  return true;
}

}  // namespace softdat::simnic
