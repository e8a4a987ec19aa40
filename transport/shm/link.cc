// SPDX-License-Identifier: BSD-2-Clause
#include "transport/shm/link.h"

#include <poll.h>
#include <sys/socket.h>

#include <cstring>
#include <mutex>
#include <new>

#include "base/assert.h"
#include "base/ordered_copy.h"
#include "transport/shm/shm_carrier.h"
#include "transport/shm/shm_request.h"

namespace softdat::transport::shm {
namespace {

// Records that a poll takes at most before other links get their turn.
constexpr std::size_t kRecordsPerPoll = 64;
// Packets that are still read when the link ends: all the farewells that fit into a socket, and bells.
constexpr int kMostLastPackets = 4096;
// Room that makes it worth while to resume blocked channels.
constexpr std::size_t kRoomToResume = 2 * kMostRecord;
// The reader keeps less than an eighth to itself.
static_assert(kRoomToResume <= kSmallestRing - kSmallestRing / 8 - kLine);
// RFC 5040 section 4.8: remote operation error, catastrophic, localized to the stream.
constexpr TerminateCode kBrokenProtocol{.layer = 0, .type = 2, .code = 7};

// Whatever bells still wait to be read.
bool has_hung_up(int socket) {
  pollfd entry = {.fd = socket, .events = 0, .revents = 0};
  return ::poll(&entry, 1, 0) == 1 && (entry.revents & POLLHUP) != 0;
}

}  // namespace

Link::Link(ShmCarrier& carrier, LinkParts parts)
    : carrier_(carrier),
      peer_(parts.peer),
      segment_(std::move(parts.segment)),
      socket_(std::move(parts.socket)),
      resources_(std::move(parts.resources)),
      writer_(segment_.ring_of(parts.side)),
      reader_(segment_.ring_of(other(parts.side))),
      conversations_(parts.side) {
  refuse_descriptors(socket_.get());
  watch_ = carrier_.reactor().watch(socket_.get(), *this);
  // Out of descriptors or memory in the kernel. The carrier ends the link in its next turn.
  if (!watch_) {
    break_down();
    return;
  }
  watch_->want(kReadable);
  // A pidfd tells of the peer's death even if a child of the peer still holds the socket. Older kernels have none.
  base::UniqueFd process = open_process(socket_.get());
  if (process) {
    death_watch_ = std::make_unique<DeathWatch>(carrier_.reactor(), std::move(process), [this] { lose_peer(); });
  }
}

Link::~Link() {
  if (!resources_) return;
  const bool is_done = carrier_.resources()->detach_peer(resources_, is_intact() && has_hung_up(socket_.get()));
  if (!is_done && death_watch_) carrier_.await_end(std::move(death_watch_), resources_);
}

void Link::on_ready(std::uint32_t) {
  // One packet, which is mostly the only bell. What is left behind it is told of at once.
  hear_socket(1);
  if (!is_peer_gone_) watch_->want(kReadable);
}

bool Link::is_alive() {
  if (!is_intact() || has_hung_up(socket_.get())) lose_peer();
  return !is_ending();
}

// No number, or a link that ends: the channel hears so in the next turn, because no sink is called within connect().
void Link::open(ShmChannel& channel) {
  const Bytes offer = encode_offer(channel.question()->offer);
  const std::uint32_t number = is_ending() ? ConversationTable::kNone : conversations_.begin_own();
  if (number == ConversationTable::kNone) {
    return channel.tell_later(News::kRefused, Refusal::kUnreachable);
  }
  conversations_.find(number)->channel = &channel;
  channel.join(*this, number, ChannelState::kConnecting);
  post(RecordKind::kConnect, number, offer);
  flush();
}

// REQUIRES: the request is still there (ShmRequest::leave), so the conversation is in the table.
void Link::accept(std::uint32_t number, ShmChannel& channel, const Bytes& reply) {
  Conversation& conversation = *conversations_.find(number);
  conversation.request = nullptr;
  conversation.channel = &channel;
  channel.join(*this, number, ChannelState::kAccepting);
  post(RecordKind::kAccept, number, reply);
  flush();
}

// Each side says one final record for each conversation; the number is free when both have.
void Link::finish(std::uint32_t number, RecordKind kind, std::span<const std::byte> bytes) {
  Conversation* conversation = conversations_.find(number);
  base::check(conversation != nullptr && !conversation->has_sent_final, "one last word", number);
  conversation->channel = nullptr;
  conversation->request = nullptr;
  conversation->has_sent_final = true;
  post(kind, number, bytes);
  conversations_.end_if_over(number);
  flush();
}

void Link::post(RecordKind kind, std::uint32_t number, std::span<const std::byte> bytes) {
  if (is_ending()) return;
  // Records that found no room keep their order: later ones queue up behind them.
  if (!outbox_.empty() || !write(kind, number, bytes)) put_by(kind, number, bytes);
}

// A record that cannot even be kept would leave the peer in another state than ours, so the link ends.
void Link::put_by(RecordKind kind, std::uint32_t number, std::span<const std::byte> bytes) try {
  note_writer();
  outbox_.push_back({kind, number, {bytes.begin(), bytes.end()}});
} catch (const std::bad_alloc&) {
  break_down();
}

bool Link::write(RecordKind kind, std::uint32_t number, std::span<const std::byte> bytes) {
  const std::size_t length = kWordBytes + bytes.size();
  const std::lock_guard lock(tail_);
  if (!writer_.has_room(length)) {
    // Posters must not overtake: put() sends nothing until use_room() has emptied the outbox.
    is_stopped_ = true;
    if (writer_.is_broken()) break_down();
    writer_.want_room();
    return false;
  }
  std::byte* const to = writer_.begin(length);
  if (!bytes.empty()) std::memcpy(to + kWordBytes, bytes.data(), bytes.size());
  const auto record_bytes = static_cast<std::uint32_t>(length);
  writer_.publish(pack({.bytes = record_bytes, .kind = kind, .channel = number}), length);
  mark_written();
  return true;
}

// May run with a lane alone. The lock on the tail is all that posters of different queue pairs share.
bool Link::put(std::uint32_t number, const HeadWord& head, std::span<const std::byte> payload) {
  constexpr std::size_t kBefore = 2 * kWordBytes;
  const std::size_t length = kBefore + payload.size();
  {
    const std::lock_guard lock(tail_);
    if (is_stopped_ || !writer_.has_room(length)) return false;
    std::byte* const to = writer_.begin(length);
    // The record was not published, so the next one takes its place.
    if (!payload.empty() && !base::copy_in(to + kBefore, payload.data(), payload.size())) return false;
    const std::uint64_t word = pack(head);
    std::memcpy(to + kWordBytes, &word, sizeof word);
    const auto bytes = static_cast<std::uint32_t>(length);
    writer_.publish(pack(RecordWord{.bytes = bytes, .kind = RecordKind::kMessage, .channel = number}), length);
  }
  if (writer_.claim_bell()) wake_peer();
  return true;
}

void Link::block(ShmChannel& channel) {
  note_writer();
  blocked_.push_back(channel);
  want_room();
}

void Link::flush() {
  if (!std::exchange(has_written_, false)) return;
  may_have_to_write_ = has_writers();
  if (writer_.claim_bell()) wake_peer();
}

// A peer that sleeps on would miss what it has been sent, so the link ends for both sides. The carrier sees to that:
// the socket may not hang up while a thread of ours is in the peer's memory.
void Link::wake_peer() {
  if (is_intact() && ring_bell(socket_.get())) [[likely]]
    return;
  is_mute_.store(true, std::memory_order_relaxed);
  carrier_.note_end_of_link();
}

// The channels hear of it at the carrier's next turn.
void Link::break_down() {
  is_broken_ = true;
  carrier_.note_work();
}

void Link::lose_peer() {
  is_peer_gone_ = true;
  carrier_.note_work();
}

std::size_t Link::poll_slow() {
  const std::size_t taken = take_records(kRecordsPerPoll);
  if (may_have_to_write_) [[unlikely]]
    return taken + write_on(taken);
  SOFTDAT_DEBUG_CHECK(!has_written_ && !has_writers(), "a link that need not write has nothing to write");
  idle_polls_ = taken > 0 ? 0 : idle_polls_ + 1;
  return taken;
}

// Resumes writers, and rings the peer's bell for what has been written. Returns how many writers it has resumed.
[[gnu::noinline]] std::size_t Link::write_on(std::size_t taken) {
  const bool had_writers = has_writers();
  const std::size_t resumed = had_writers ? use_room() : 0;
  flush();
  may_have_to_write_ = had_writers && has_writers();
  idle_polls_ = taken + resumed > 0 || had_writers ? 0 : idle_polls_ + 1;
  return resumed;
}

[[gnu::always_inline]] inline std::size_t Link::take_records(std::size_t most) {
  std::size_t count = 0;
  for (; count < most && !is_broken_; ++count) {
    // Acquire: pairs with the release of the record's first word in RingWriter::publish().
    const std::uint64_t first = reader_.peek();
    if (first == 0) break;
    const RecordWord word = unpack(first);
    // The ring is the peer's memory as well: take the word once, and believe no length that leaves the mirrored ring.
    const bool is_sane = word.bytes >= kWordBytes && word.bytes <= kMostRecord;
    const std::span<const std::byte> bytes(reader_.record() + kWordBytes, word.bytes - kWordBytes);
    if (!is_sane || (!take_short_send(word, bytes) && !deliver(word, bytes))) {
      break_down();
      break;
    }
    reader_.consume(word.bytes);
    if (reader_.is_publish_due()) give_room_back();
  }
  return count;
}

// Fast path for short sends. False: nothing was done.
inline bool Link::take_short_send(const RecordWord& word, std::span<const std::byte> bytes) {
  if (word.kind != RecordKind::kMessage) return false;
  const Conversation* const conversation = conversations_.find(word.channel);
  if (conversation == nullptr || conversation->channel == nullptr || conversation->has_got_final) return false;
  return conversation->channel->take_short_send(bytes);
}

void Link::give_room_back() {
  // Room is published in batches; the peer is rung for it only if it has said that it waits.
  if (reader_.publish() && writer_.claim_bell_quietly()) wake_peer();
}

// First the records that must go, then each blocked channel in its turn. A channel that blocks again goes to the end of
// the queue, so that one busy channel does not starve the others.
std::size_t Link::use_room() {
  std::size_t count = 0;
  while (!outbox_.empty()) {
    const Waiting& next = outbox_.front();
    if (!write(next.kind, next.number, next.bytes)) return count;
    outbox_.pop_front();
    ++count;
  }
  stop_wanting_room();
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

// A poll without the baton does not look for room in the ring, so there must be none while a record waits for room.
void Link::note_writer() {
  may_have_to_write_ = true;
  carrier_.watch_more();
}

void Link::want_room() {
  const std::lock_guard lock(tail_);
  writer_.want_room();
  if (writer_.is_broken()) break_down();
}

void Link::stop_wanting_room() {
  const std::lock_guard lock(tail_);
  is_stopped_ = false;
  writer_.stop_wanting_room();
}

bool Link::has_room_to_resume() {
  const std::lock_guard lock(tail_);
  const bool has_room = writer_.has_room(kRoomToResume);
  if (writer_.is_broken()) break_down();
  return has_room;
}

void Link::end() {
  // Records that a dead peer has left in the ring still count, and then its farewell; a living peer cannot hold us
  // here, because both are bounded.
  if (is_intact()) hear_socket(kMostLastPackets);
  // Everything that was published before the peer's end was sent, and may complete requests.
  if (!is_broken_) take_records(segment_.ring_of(Side::kConnector).size / kLine);
  if (!is_broken_) deliver_farewell();
  const bool is_broken = is_broken_;
  const CloseReason reason = is_broken ? CloseReason::kProtocolError : CloseReason::kLost;
  const Refusal refusal = is_broken ? Refusal::kProtocol : Refusal::kUnreachable;
  is_peer_gone_ = true;
  outbox_.clear();
  conversations_.for_each([&](std::uint32_t number) {
    ShmChannel* channel = nullptr;
    detach(*conversations_.find(number), channel);
    if (channel != nullptr) channel->on_end(reason, is_broken ? kBrokenProtocol : TerminateCode{}, refusal);
  });
}

// By now our number may belong to a socket of the program's.
void Link::sever() {
  if (is_intact()) ::shutdown(socket_.get(), SHUT_RDWR);
}

void Link::detach(Conversation& conversation, ShmChannel*& channel) {
  channel = std::exchange(conversation.channel, nullptr);
  if (channel != nullptr) channel->leave();
  if (conversation.request != nullptr) {
    std::exchange(conversation.request, nullptr)->on_peer_gone();
  }
}

}  // namespace softdat::transport::shm
