// SPDX-License-Identifier: BSD-2-Clause
// The data path of a channel: messages into the link's ring, and out of it. Allocates nothing and,
// while the peer polls, enters no kernel.
#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/assert.h"
#include "base/ordered_copy.h"
#include "transport/copy_to_places.h"
#include "transport/shm/link.h"
#include "transport/shm/shm_channel.h"

namespace softdat::transport::shm {
namespace {

// A piece smaller than this is only written when it is the whole rest of the message.
constexpr std::size_t kSmallestPiece = 2048;

}  // namespace

// Stands on the stack while a sink is being called, and tells whether the channel survived.
class ShmChannel::Survival {
 public:
  explicit Survival(ShmChannel& channel) : channel_(&channel), outer_(std::exchange(channel.survival_, this)) {}
  ~Survival() {
    if (channel_ != nullptr) channel_->survival_ = outer_;
  }
  Survival(const Survival&) = delete;
  Survival& operator=(const Survival&) = delete;

  bool is_open() const { return channel_ != nullptr && channel_->state_ == ChannelState::kOpen; }
  void mark_destroyed() {
    channel_ = nullptr;
    if (outer_ != nullptr) outer_->mark_destroyed();
  }

 private:
  ShmChannel* channel_;
  Survival* outer_;
};

void ShmChannel::mark_destroyed() {
  survival_->mark_destroyed();
}

SendResult ShmChannel::send(const Message& message, PayloadSource* payload) {
  if (tap_) [[unlikely]]
    return send_watched(message, payload);
  return send_message(message, payload);
}

SendResult ShmChannel::send_watched(const Message& message, PayloadSource* payload) {
  tap_->before_send();
  const SendResult result = send_message(message, payload);
  if (result == SendResult::kDone) tap_->on_sent(message, payload);
  return result;
}

inline SendResult ShmChannel::send_message(const Message& message, PayloadSource* payload) {
  if (state_ == ChannelState::kClosed) return SendResult::kClosed;
  if (state_ != ChannelState::kOpen) {
    wants_to_write_ = true;
    return SendResult::kBlocked;
  }
  const bool is_ack = message.opcode == Opcode::kNote && message.note == NoteKind::kAck;
  if (ack_.is_there() && (is_ack || !ack_.may_ride())) tell_ack();
  // Others wait for room before this channel.
  if (link_->is_congested()) return block();
  if (is_ack) {
    // An ack waits for the next record to ride on; flush() sends it alone if none comes.
    ack_.hold(message.note_value);
    return SendResult::kDone;
  }
  const std::uint64_t total = payload_length(message);
  do {
    switch (write_piece(message, payload)) {
      case Piece::kTaken:
        break;
      case Piece::kNoRoom:
        return block();
      case Piece::kFault:
        return fault();
    }
    // The peer copies one piece out while we copy the next one in.
    if (taken_ < total) link_->flush();
  } while (taken_ < total);
  taken_ = 0;
  return SendResult::kDone;
}

// A record of its own, with whatever there is to acknowledge.
bool ShmChannel::send_short(const ShortSend& short_send) {
  if (state_ != ChannelState::kOpen || short_send.payload.size() >= brief_end_.load(std::memory_order_relaxed)) {
    return false;
  }
  const bool has_ack = short_send.acked.has_value() || ack_.is_there();
  const std::uint64_t acked = short_send.acked ? *short_send.acked : ack_.value();
  if (has_ack && !ack_.may_ride(acked)) return false;
  const HeadWord head{.opcode = short_send.opcode,
                      .acks = has_ack ? ack_.as_acks(acked) : std::uint16_t{0},
                      .length = static_cast<std::uint32_t>(short_send.payload.size())};
  if (!link_->put(number_, head, short_send.payload)) return false;
  if (has_ack) ack_.note_told(acked);
  return true;
}

// A record that has been put where the next one goes, and with it what is to be acknowledged.
void ShmChannel::publish(RecordKind kind, std::uint32_t bytes) {
  link_->writer().publish(pack(RecordWord{.bytes = bytes, .kind = kind, .channel = number_}), bytes);
  link_->mark_written();
  if (ack_.is_there()) ack_.note_told();
}

ShmChannel::Piece ShmChannel::write_piece(const Message& message, PayloadSource* payload) {
  const std::lock_guard lock(link_->tail());
  RingWriter& writer = link_->writer();
  const std::size_t left = payload_length(message) - taken_;
  const bool is_first = taken_ == 0;
  // Only the first piece has a head; the others are just bytes of the same message.
  const MessageHead head = is_first ? encode_head(message, ack_.as_acks()) : MessageHead{};
  const std::size_t before = kWordBytes + head.bytes();
  if (!writer.has_room(before + std::min(left, kSmallestPiece))) return Piece::kNoRoom;
  const std::size_t length = std::min({left, kMostPayload, writer.room() - before});
  std::byte* to = writer.begin(before + length);
  std::memcpy(to + kWordBytes, head.words.data(), head.bytes());
  if (length > 0 && !fill(payload, to + before, length)) return Piece::kFault;
  const RecordKind kind = is_first ? RecordKind::kMessage : RecordKind::kMore;
  const auto bytes = static_cast<std::uint32_t>(before + length);
  publish(kind, bytes);
  taken_ += length;
  return Piece::kTaken;
}

// In a record of its own.
void ShmChannel::tell_ack() {
  const MessageHead head = encode_head({.opcode = Opcode::kNote, .note = NoteKind::kAck, .note_value = ack_.value()});
  link_->post(RecordKind::kMessage, number_, std::as_bytes(std::span(head.words)).first(head.bytes()));
  ack_.note_told();
}

// With the lock on the ring's tail. The payload's source looks the key up for each piece.
bool ShmChannel::fill(PayloadSource* payload, std::byte* to, std::size_t length) const {
  for (std::size_t done = 0; done < length;) {
    SliceList slices;
    if (!payload->gather(taken_ + done, length - done, slices)) return false;
    const std::size_t before = done;
    for (const Slice& slice : slices.slices()) {
      const std::size_t part = std::min(slice.length, length - done);
      if (!base::copy_in(to + done, slice.data, part)) return false;
      done += part;
    }
    base::check(done > before, "a gather covers at least one byte");
  }
  return true;
}

SendResult ShmChannel::block() {
  if (!is_linked()) link_->block(*this);
  return SendResult::kBlocked;
}

// The memory of the message cannot be read. What is left of it will not come.
SendResult ShmChannel::fault() {
  return std::exchange(taken_, 0) == 0 ? SendResult::kFault : SendResult::kFaultMidway;
}

bool ShmChannel::on_payload(RecordKind kind, std::span<const std::byte> bytes) {
  if (state_ != ChannelState::kOpen) return false;
  const bool is_first = kind == RecordKind::kMessage;
  // A new message within another one, or a rest without its beginning: the peer breaks the protocol.
  if (is_first == is_mid_message_) return false;
  std::uint16_t acks = 0;
  if (is_first && !begin_message(bytes, acks)) return false;
  if (acks != 0 && !hear_acks(acks)) return true;
  const std::uint64_t total = payload_length(current_);
  if (bytes.size() > total - placed_ || (bytes.empty() && total > 0)) return false;
  if (carries_payload(current_.opcode) && !place(bytes)) return true;
  if (placed_ < total) return true;
  is_mid_message_ = false;
  if (current_.opcode == Opcode::kNote && current_.note == NoteKind::kAck) heard_ = current_.note_value;
  sink_->on_message(current_);
  return true;
}

// The acks that a message brings were sent before it. False: the sink has closed the channel.
bool ShmChannel::hear_acks(std::uint16_t acks) {
  const Survival survival(*this);
  heard_ += acks;
  sink_->on_message({.opcode = Opcode::kNote, .note = NoteKind::kAck, .note_value = heard_});
  return survival.is_open();
}

// Takes the head off.
bool ShmChannel::begin_message(std::span<const std::byte>& bytes, std::uint16_t& acks) {
  const auto head = decode_head(bytes, current_);
  if (!head) return false;
  bytes = bytes.subspan(head->bytes);
  placed_ = 0;
  is_mid_message_ = true;
  acks = head->acks;
  return true;
}

// Moves the bytes to where the sink wants them. False when the sink closed the channel.
bool ShmChannel::place(std::span<const std::byte> bytes) {
  const bool tagged = is_tagged(current_.opcode);
  const Survival survival(*this);
  do {
    const Arrival arrival{.opcode = current_.opcode,
                          .first = placed_ == 0,
                          .stag = tagged ? current_.stag : 0,
                          .offset = tagged ? current_.offset + placed_ : 0,
                          .message_offset = placed_,
                          .length = bytes.size()};
    SliceList slices;
    const Placement placement = sink_->place(arrival, slices);
    if (!survival.is_open()) return false;
    std::size_t done = placement == Placement::kDiscard ? bytes.size() : 0;
    // The receiver's memory has gone. The sink is told, and asked again where the bytes go; it then discards them.
    if (!copy_to_places(slices, bytes, done)) {
      sink_->on_fault(arrival);
      if (!survival.is_open()) return false;
      continue;
    }
    base::check(done > 0 || bytes.empty(), "a placement covers at least one byte");
    placed_ += done;
    bytes = bytes.subspan(done);
  } while (!bytes.empty());
  return true;
}

}  // namespace softdat::transport::shm
