// SPDX-License-Identifier: BSD-2-Clause
// LinkWriter: what one side of a link writes to its peer: records in the ring, those that wait for room, the channels
// that wait behind them, and the peer's bell.
//
// Threads: REQUIRES the baton, but for put() and what says otherwise. The lock on the ring's tail orders all writers.
// Errors: a record that can neither be written nor be kept ends the link (LinkEnd).
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <span>

#include "base/assert.h"
#include "base/spin_lock.h"
#include "transport/lock_places.h"
#include "transport/shm/link_end.h"
#include "transport/shm/reaper.h"
#include "transport/shm/record.h"
#include "transport/shm/ring_writer.h"
#include "transport/shm/shm_channel.h"

namespace softdat::transport::shm {

class LinkWriter {
 public:
  // The first three, and the mapping that `memory` names, outlive it.
  LinkWriter(Attention& attention, LinkEnd& end, const PeerSocket& socket, const RingMemory& memory, SleepFence fence)
      : attention_(attention), end_(end), socket_(socket), ring_(memory, fence) {}

  // A small record. Without room it waits, and everything else behind it. Nothing is written once the link is to end.
  void post(RecordKind kind, std::uint32_t number, std::span<const std::byte> bytes);
  // Any thread. A short message with its head; rings the bell. `word`: the record's first word without the length.
  // False, and nothing done: it finds no room, or a record waits for room, or its memory faults.
  bool put(std::uint64_t word, const HeadWord& head, std::span<const std::byte> payload);

  // A channel writes the pieces of long messages into the ring itself, under this lock. Lock order: the baton, lanes,
  // tail().
  base::Ordered<base::SpinLock, locks::kLinkTail>& tail() { return tail_; }
  RingWriter& ring() { return ring_; }
  void mark_written() { has_written_ = may_have_to_write_ = true; }
  // Records wait, or the link is to end: a channel does not write now.
  bool is_congested() const { return !outbox_.empty() || end_.is_due(); }
  // How many records wait for room.
  std::size_t count_waiting() const { return outbox_.size(); }
  // The channel hears ChannelSink::on_writable() when there is room.
  void block(ShmChannel& channel);
  // Wakes the peer if it sleeps over what has been written.
  void flush();

  // False only if nothing has been written since the last flush(), and nobody waits for room.
  bool may_have_to_write() const {
    SOFTDAT_DEBUG_CHECK(may_have_to_write_ || (!has_written_ && !has_writers()), "who must write says so");
    return may_have_to_write_;
  }
  // Records or channels wait for room.
  bool has_writers() const { return !outbox_.empty() || !blocked_.empty(); }
  // Lets those write that wait for room, as far as there is some, then flushes. Returns how many went on.
  std::size_t write_on();
  // Rings the bell of a peer that sleeps, for news that is no record: room in its own ring.
  void ring_quietly();
  // Sends the records that wait through the socket. Called before the carrier ends.
  void say_farewell() const;
  // Drops the records that wait.
  void drop() { outbox_.clear(); }

  // Any thread. The peer may sleep over what it has been sent, because it could not be woken.
  bool is_mute() const { return is_mute_.load(std::memory_order_relaxed); }
  // Any thread. The peer has made room for those that wait.
  bool is_room_news() const { return ring_.is_room_news(); }

 private:
  struct Waiting {
    RecordKind kind;
    std::uint32_t number;
    Bytes bytes;
  };

  bool write(RecordKind kind, std::uint32_t number, std::span<const std::byte> bytes);
  void put_by(RecordKind kind, std::uint32_t number, std::span<const std::byte> bytes);
  void wake_peer();
  std::size_t use_room();
  bool has_room_to_resume();
  void note_writer();
  void want_room();
  void act_on(Wish wish);

  Attention& attention_;
  LinkEnd& end_;
  const PeerSocket& socket_;
  base::Ordered<base::SpinLock, locks::kLinkTail> tail_;
  // Guarded by tail_, but for what the ring says.
  RingWriter ring_;
  bool is_stopped_ = false;  // while outbox_ holds something, which nothing may overtake
  std::atomic<bool> is_mute_{false};
  // Owned by the baton.
  std::deque<Waiting> outbox_;  // records that found no room and go first: set-up, final ones, acks
  ChannelQueue blocked_;
  bool has_written_ = false;  // since the last flush()
  bool may_have_to_write_ = false;
};

}  // namespace softdat::transport::shm
