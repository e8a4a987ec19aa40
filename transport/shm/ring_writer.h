// SPDX-License-Identifier: BSD-2-Clause
// The producing end of a ring in shared memory: one producer, one consumer, in two processes.
//
// The ring is a run of records, each at the start of a 64-byte line. A record's first word (never
// zero) says how long it is and what; the word after the last record is zero. Positions are
// byte counts since the beginning, never wrapped; position modulo size is the place.
//
// Writers and pairs:
// - A record's first word: the producer. It stores zero into the first word of the line after the
//   record, then the record's other bytes, then (release) the record's own first word. The
//   consumer's acquire load of a non-zero word therefore sees the record and the zero behind it.
//   Empty: the word at the consumer's position is zero. One line is always kept free for that zero.
//   Zeros go into eight lines at a time, behind a record and not before it: a store to a line that the
//   consumer has in its cache takes as long as the line needs to come back, and all later stores wait for it.
// - control.head: the consumer (release): everything before it may be overwritten. Full: a record
//   and a line do not fit between the producer's position and head + size. The producer loads it
//   (acquire) only when it seems to have no room, and after a wish. It checks the value, because a
//   peer may write anything there.
// - control.is_asleep: the consumer stores 1 before sleeping, 0 after; the producer exchanges it
//   to 0 when it rings the consumer's bell, so that each sleep costs one ring at most. After its records, the producer
//   loads it in claim_bell(). The consumer stores it (RingReader::arm()), fences every process that has joined the
//   fences (base::fence_everyone()), and looks at its ring. Either the producer sees the sleeper, or the sleeper sees
//   the records.
// - control.pulse: used if a side has not joined the fences. The producer, a sequentially consistent read-modify-write
//   before its load of is_asleep. The consumer loads pulse after its store of is_asleep. Either the producer sees the
//   sleeper, or the sleeper's load of pulse reads the producer's store and with it the records.
// - control.wants_room: the producer, when it cannot go on because the ring is full; then it loads head once more
//   (want_room()). The consumer loads wants_room after its store of head (RingReader::publish()); all four are
//   sequentially consistent. Either the consumer sees the wish and rings, or the producer sees the room.
//
// Neither side waits for the other: if a peer dies between two of these stores, the last record is either there as a
// whole or not there.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "transport/shm/segment.h"

namespace softdat::transport::shm {

// What became of a wish for room.
enum class Wish {
  kNoted,   // the consumer will know of it when it makes room
  kMissed,  // there may be room that the consumer made before it knew: perhaps nobody rings for it
  kBroken,  // the consumer's word makes no sense: there will never be room
};

// REQUIRES of every call: the link's tail lock; of claim_bell() and claim_bell_quietly() nothing; is_room_news(): any
// thread.
class RingWriter {
 public:
  RingWriter(const RingMemory& memory, SleepFence fence) : memory_(memory), fence_(fence) {}

  // Whether a record of `bytes` fits now.
  bool has_room(std::size_t bytes) {
    const std::size_t needed = round_to_line(bytes);
    return (!is_broken_ && needed <= room()) || finds_room(needed);
  }
  // The most bytes that a record may have now (as far as has_room() last saw).
  std::size_t room() const { return memory_.size - kLine - (tail_ - head_); }

  // Begins a record of so many bytes: where it goes. Its first word is left to publish(). Requires has_room(). A record
  // that is begun may be given up.
  std::byte* begin(std::size_t bytes);
  // The record that was begun last, with as many bytes.
  void publish(std::uint64_t word, std::size_t bytes) {
    first_word(place(tail_)).store(word, std::memory_order_release);
    tail_ += round_to_line(bytes);
    SOFTDAT_DEBUG_CHECK(clear_begin_ == tail_ && clear_end_ > tail_, "zero follows each record");
    if (clear_end_ == tail_ + kLine) clear(clear_end_, std::min(tail_ + kClearedAhead, head_ + memory_.size));
  }

  // After publishing: true if the consumer sleeps; the caller must ring its bell.
  bool claim_bell();
  // Whether the consumer sleeps; for what is not a record (room, say).
  bool claim_bell_quietly();

  // The producer cannot go on for want of room.
  [[nodiscard]] Wish want_room();
  // It can go on again.
  void stop_wanting_room();
  // Any thread: from want_room() to stop_wanting_room().
  bool wants_room() const { return stopped_at_.load(std::memory_order_relaxed) != kNothingWanted; }
  // Any thread: the consumer made room since want_room().
  bool is_room_news() const;

  // The consumer's word makes no sense; nothing fits any more.
  bool is_broken() const { return is_broken_; }

 private:
  static std::atomic_ref<std::uint64_t> first_word(std::byte* record) {
    return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(record));
  }
  std::byte* place(std::uint64_t position) const { return memory_.bytes + (position & (memory_.size - 1)); }
  bool finds_room(std::size_t needed);
  void clear(std::uint64_t begin, std::uint64_t end);

  // How far from the tail publish() clears. The consumer's processor fetches lines that it expects to be read next: the
  // earlier a line is cleared, the likelier it is taken away before it is written.
  static constexpr std::size_t kClearedAhead = 9 * kLine;
  static constexpr std::uint64_t kNothingWanted = ~std::uint64_t{0};

  const RingMemory memory_;
  const SleepFence fence_;
  // Guarded by the link's tail lock.
  std::uint64_t tail_ = 0;  // where the next record goes
  std::uint64_t head_ = 0;  // the last control.head that made sense
  // The first word of each line from clear_begin_ to clear_end_ is zero. A new ring is zero as a whole.
  std::uint64_t clear_begin_ = 0;
  std::uint64_t clear_end_ = memory_.size;
  bool is_broken_ = false;
  // Written with the tail lock, read by is_room_news(): the head at which we stopped.
  std::atomic<std::uint64_t> stopped_at_{kNothingWanted};
};

}  // namespace softdat::transport::shm
