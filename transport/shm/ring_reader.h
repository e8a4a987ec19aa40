// SPDX-License-Identifier: BSD-2-Clause
// The consuming end of a ring in shared memory. ring_writer.h tells the whole protocol; here is
// what the consumer adds.
//
// Nothing in the ring is trusted: the first word is loaded once into a private copy, checked, and
// only then used; everything else is bytes, to be copied before they are looked at. A record's
// checked length keeps every access within the mapping, whatever the peer writes meanwhile.
//
// control.head is stored seldom: when an eighth of the ring has been consumed. The rest is too
// little for a producer to wait for, and so a single message touches no control word of the other side. The store is
// sequentially consistent and comes before the loads of wants_room and of the producer's is_asleep (the other ring's),
// which the producer stores before it looks at head a last time: either we see the wish and the sleeper, or it sees the
// room.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "transport/shm/segment.h"

namespace softdat::transport::shm {

// Everything is called with the baton, except arm(), disarm() and has_record().
class RingReader {
 public:
  RingReader(const RingMemory& memory, SleepFence fence) : memory_(memory), fence_(fence), next_(memory.bytes) {}

  // The next record's first word; 0 when there is none.
  std::uint64_t peek() const {
    std::byte* const at = next_.load(std::memory_order_relaxed);
    return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(at)).load(std::memory_order_acquire);
  }
  // Where the next record begins, or the one that peek() found. Bytes up to the ring's size may be read.
  const std::byte* record() const { return next_.load(std::memory_order_relaxed); }
  // Done with it; `bytes` is the checked length.
  void consume(std::size_t bytes) {
    position_ += round_to_line(bytes);
    next_.store(memory_.bytes + (position_ & (memory_.size - 1)), std::memory_order_relaxed);
  }

  bool is_publish_due() const { return position_ - published_ >= memory_.size / 8; }
  // Gives the room back. True when the producer waits for room, and may sleep.
  bool publish();

  // Any thread, before and after sleeping. arm() returns whether the caller must execute base::fence_everyone() before
  // it looks at the ring, once for all its rings.
  bool arm();
  void disarm();
  bool has_record() const { return peek() != 0; }

 private:
  const RingMemory memory_;
  const SleepFence fence_;
  // Written with the baton; read by has_record() too: where the next record begins.
  std::atomic<std::byte*> next_;
  // Owned by the baton.
  std::uint64_t position_ = 0;
  std::uint64_t published_ = 0;
};

}  // namespace softdat::transport::shm
