// SPDX-License-Identifier: BSD-2-Clause
#include "transport/shm/link_writer.h"

#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "base/ordered_copy.h"
#include "transport/shm/unix_socket.h"

namespace softdat::transport::shm {
namespace {

// Room that makes it worth while to resume blocked channels.
constexpr std::size_t kRoomToResume = 2 * kMostRecord;
// The reader keeps less than an eighth to itself.
static_assert(kRoomToResume <= kSmallestRing - kSmallestRing / 8 - kLine);

void append(Bytes& to, const RecordWord& word, const Bytes& bytes) {
  const std::uint64_t first = pack(word);
  const auto* head = reinterpret_cast<const std::byte*>(&first);
  to.insert(to.end(), head, head + kWordBytes);
  to.insert(to.end(), bytes.begin(), bytes.end());
}

}  // namespace

void LinkWriter::post(RecordKind kind, std::uint32_t number, std::span<const std::byte> bytes) {
  if (end_.is_due()) return;
  // Records that found no room keep their order: later ones queue up behind them.
  if (!outbox_.empty() || !write(kind, number, bytes)) put_by(kind, number, bytes);
}

// A record that cannot even be kept would leave the peer in another state than ours, so the link ends.
void LinkWriter::put_by(RecordKind kind, std::uint32_t number, std::span<const std::byte> bytes) try {
  note_writer();
  outbox_.push_back({kind, number, {bytes.begin(), bytes.end()}});
} catch (const std::bad_alloc&) {
  end_.break_down();
}

bool LinkWriter::write(RecordKind kind, std::uint32_t number, std::span<const std::byte> bytes) {
  const std::size_t length = kWordBytes + bytes.size();
  Wish wish;
  {
    const std::lock_guard lock(tail_);
    if (ring_.has_room(length)) {
      std::byte* const to = ring_.begin(length);
      if (!bytes.empty()) std::memcpy(to + kWordBytes, bytes.data(), bytes.size());
      const auto record_bytes = static_cast<std::uint32_t>(length);
      ring_.publish(pack({.bytes = record_bytes, .kind = kind, .channel = number}), length);
      mark_written();
      return true;
    }
    // Posters must not overtake: put() sends nothing until use_room() has emptied the outbox.
    is_stopped_ = true;
    wish = ring_.want_room();
  }
  act_on(wish);
  return false;
}

// May run with a lane alone. The lock on the tail is all that posters of different queue pairs share.
bool LinkWriter::put(std::uint64_t word, const HeadWord& head, std::span<const std::byte> payload) {
  constexpr std::size_t kBefore = 2 * kWordBytes;
  const std::size_t length = kBefore + payload.size();
  {
    const std::lock_guard lock(tail_);
    if (is_stopped_ || !ring_.has_room(length)) return false;
    std::byte* const to = ring_.begin(length);
    // The record was not published, so the next one takes its place.
    if (!payload.empty() && !base::copy_in(to + kBefore, payload.data(), payload.size())) return false;
    const std::uint64_t head_word = pack(head);
    std::memcpy(to + kWordBytes, &head_word, sizeof head_word);
    ring_.publish(word | length, length);
  }
  if (ring_.claim_bell()) wake_peer();
  return true;
}

void LinkWriter::block(ShmChannel& channel) {
  note_writer();
  blocked_.push_back(channel);
  want_room();
}

void LinkWriter::flush() {
  if (!std::exchange(has_written_, false)) return;
  may_have_to_write_ = has_writers();
  if (ring_.claim_bell()) wake_peer();
}

// A peer that sleeps on would miss what it has been sent, so the link ends for both sides. The carrier sees to that:
// the socket may not hang up while a thread of ours is in the peer's memory.
void LinkWriter::wake_peer() {
  if (socket_.is_intact() && ring_bell(socket_.get())) [[likely]]
    return;
  is_mute_.store(true, std::memory_order_relaxed);
  attention_.note_work_from_any_thread();
}

void LinkWriter::ring_quietly() {
  if (ring_.claim_bell_quietly()) wake_peer();
}

std::size_t LinkWriter::write_on() {
  const bool had_writers = has_writers();
  const std::size_t resumed = had_writers ? use_room() : 0;
  // A channel that waited for room may have left since; the wish would keep this side awake for ever.
  if (!had_writers && ring_.wants_room()) {
    const std::lock_guard lock(tail_);
    ring_.stop_wanting_room();
  }
  flush();
  may_have_to_write_ = had_writers && has_writers();
  return resumed;
}

// First the records that must go, then each blocked channel in its turn. A channel that blocks again goes to the end of
// the queue, so that one busy channel does not starve the others.
std::size_t LinkWriter::use_room() {
  std::size_t count = 0;
  while (!outbox_.empty()) {
    const Waiting& next = outbox_.front();
    if (!write(next.kind, next.number, next.bytes)) return count;
    outbox_.pop_front();
    ++count;
  }
  {
    const std::lock_guard lock(tail_);
    is_stopped_ = false;
    ring_.stop_wanting_room();
  }
  for (std::size_t left = blocked_.size(); left > 0 && !blocked_.empty(); --left) {
    if (is_congested() || !has_room_to_resume()) break;
    ShmChannel& channel = blocked_.front();
    blocked_.pop_front();
    channel.on_room();
    ++count;
  }
  if (!blocked_.empty()) want_room();
  return count;
}

// Polls without the baton do not look for room in the ring. While a record waits for room, every poll must take the
// baton.
void LinkWriter::note_writer() {
  may_have_to_write_ = true;
  attention_.watch_more();
}

void LinkWriter::want_room() {
  Wish wish;
  {
    const std::lock_guard lock(tail_);
    wish = ring_.want_room();
    // A poster may have looked at the head after the caller had found no room.
    if (wish == Wish::kNoted && ring_.has_room(kRoomToResume)) wish = Wish::kMissed;
  }
  act_on(wish);
}

// kMissed: the peer may have made room before it saw the wish, and then does not ring for it. The next turn looks
// again; without one, the writer would wait for ever.
void LinkWriter::act_on(Wish wish) {
  if (wish == Wish::kBroken) end_.break_down();
  if (wish == Wish::kMissed) attention_.note_work();
}

bool LinkWriter::has_room_to_resume() {
  const std::lock_guard lock(tail_);
  return ring_.has_room(kRoomToResume);
}

// Out of memory, the peer's conversations end as lost.
void LinkWriter::say_farewell() const try {
  Bytes packet;
  for (const Waiting& last : outbox_) {
    const std::size_t length = kWordBytes + last.bytes.size();
    if (packet.size() + length > kMostPacketBytes) {
      // A full socket, or a peer that has gone. Its conversations then end as lost.
      if (!send_packet(socket_.get(), packet, {})) return;
      packet.clear();
    }
    append(packet, {.bytes = static_cast<std::uint32_t>(length), .kind = last.kind, .channel = last.number},
           last.bytes);
  }
  if (!packet.empty()) static_cast<void>(send_packet(socket_.get(), packet, {}));
} catch (const std::bad_alloc&) {
}

}  // namespace softdat::transport::shm
