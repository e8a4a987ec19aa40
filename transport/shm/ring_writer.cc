// SPDX-License-Identifier: BSD-2-Clause
#include "transport/shm/ring_writer.h"

namespace softdat::transport::shm {

// Looks how far the consumer is now.
bool RingWriter::finds_room(std::size_t needed) {
  const std::uint64_t head = memory_.control->head.load(std::memory_order_acquire);
  // The head is the peer's word. It may only grow, up to the tail.
  if (head < head_ || head > tail_ || head % kLine != 0) is_broken_ = true;
  if (is_broken_) return false;
  head_ = head;
  return needed <= room();
}

std::byte* RingWriter::begin(std::size_t bytes) {
  // The line behind the record says "nothing yet" before the record is published, so the reader stops there. A longer
  // record that was given up may have left something else in it.
  const std::uint64_t end = tail_ + round_to_line(bytes);
  if (end < clear_begin_ || end >= clear_end_) clear(end, end + kLine);
  clear_begin_ = end;
  return place(tail_);
}

void RingWriter::clear(std::uint64_t begin, std::uint64_t end) {
  for (std::uint64_t at = begin; at < end; at += kLine) first_word(place(at)).store(0, std::memory_order_relaxed);
  clear_end_ = end;
}

bool RingWriter::claim_bell() {
  // A full barrier between the record's release store and the look at is_asleep; pairs with RingReader::arm(). The
  // consumer may make it for this thread: then the two must only be in this order in the code.
  if (fence_ == SleepFence::kBoth) memory_.control->pulse.fetch_add(1, std::memory_order_seq_cst);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return claim_bell_quietly();
}

bool RingWriter::claim_bell_quietly() {
  std::atomic<std::uint32_t>& is_asleep = memory_.control->is_asleep;
  // The exchange lets one of several writers ring: one bell wakes the sleeper.
  return is_asleep.load(std::memory_order_seq_cst) != 0 && is_asleep.exchange(0, std::memory_order_seq_cst) != 0;
}

Wish RingWriter::want_room() {
  stopped_at_.store(head_, std::memory_order_seq_cst);
  memory_.control->wants_room.store(1, std::memory_order_seq_cst);
  if (is_broken_) return Wish::kBroken;
  // Store, then load; pairs with RingReader::publish(), which stores head and then loads the wish.
  return memory_.control->head.load(std::memory_order_seq_cst) == head_ ? Wish::kNoted : Wish::kMissed;
}

void RingWriter::stop_wanting_room() {
  stopped_at_.store(kNothingWanted, std::memory_order_relaxed);
  memory_.control->wants_room.store(0, std::memory_order_relaxed);
}

bool RingWriter::is_room_news() const {
  const std::uint64_t stopped_at = stopped_at_.load(std::memory_order_seq_cst);
  return stopped_at != kNothingWanted && memory_.control->head.load(std::memory_order_seq_cst) != stopped_at;
}

}  // namespace softdat::transport::shm
