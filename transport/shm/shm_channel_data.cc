// SPDX-License-Identifier: BSD-2-Clause
// The data path of a channel: messages into the link's ring, and out of it. Allocates nothing and,
// while the peer polls, enters no kernel.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "base/ordered_copy.h"
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
  if (state_ == ChannelState::kClosed) return SendResult::kClosed;
  if (state_ != ChannelState::kOpen) {
    wants_to_write_ = true;
    return SendResult::kBlocked;
  }
  if (link_->is_congested()) return block();
  const std::uint64_t total = payload_length(message);
  do {
    switch (write_piece(message, payload)) {
      case Piece::kTaken:
        break;
      case Piece::kNoRoom:
        return block();
      case Piece::kRevoked:
        fail();
        return SendResult::kClosed;
    }
    // The peer copies one piece out while we copy the next one in.
    if (taken_ < total) link_->flush();
  } while (taken_ < total);
  taken_ = 0;
  return SendResult::kDone;
}

ShmChannel::Piece ShmChannel::write_piece(const Message& message, PayloadSource* payload) {
  RingWriter& writer = link_->writer();
  const std::size_t left = payload_length(message) - taken_;
  const bool is_first = taken_ == 0;
  const MessageHead head = is_first ? encode_head(message) : MessageHead{};
  const std::size_t before = kWordBytes + head.bytes();
  if (!writer.has_room(before + std::min(left, kSmallestPiece))) return Piece::kNoRoom;
  const std::size_t length = std::min({left, kMostPayload, writer.room() - before});
  std::byte* to = writer.place();
  std::memcpy(to + kWordBytes, head.words.data(), head.bytes());
  if (length > 0 && !fill(payload, to + before, length)) return Piece::kRevoked;
  const RecordKind kind = is_first ? RecordKind::kMessage : RecordKind::kMore;
  const auto bytes = static_cast<std::uint32_t>(before + length);
  writer.publish(pack({.bytes = bytes, .kind = kind, .channel = number_}), bytes);
  link_->mark_written();
  taken_ += length;
  return Piece::kTaken;
}

bool ShmChannel::fill(PayloadSource* payload, std::byte* to, std::size_t length) const {
  for (std::size_t done = 0; done < length;) {
    SliceList slices;
    if (!payload->gather(taken_ + done, length - done, slices)) return false;
    const std::size_t before = done;
    for (const Slice& slice : slices.slices()) {
      const std::size_t part = std::min(slice.length, length - done);
      std::memcpy(to + done, slice.data, part);
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

// The memory of a message under way is gone. The peer may have seen its beginning.
void ShmChannel::fail() {
  Link* link = link_;
  leave();
  state_ = ChannelState::kClosed;
  link->finish(number_, RecordKind::kFault, {});
  tell_later(News::kLocalFault, {});
}

bool ShmChannel::on_payload(RecordKind kind, std::span<const std::byte> bytes) {
  if (state_ != ChannelState::kOpen) return false;
  const bool is_first = kind == RecordKind::kMessage;
  if (is_first == is_mid_message_) return false;
  if (is_first && !begin_message(bytes)) return false;
  const std::uint64_t total = payload_length(current_);
  if (bytes.size() > total - placed_ || (bytes.empty() && total > 0)) return false;
  if (carries_payload(current_.opcode) && !place(bytes)) return true;
  if (placed_ < total) return true;
  is_mid_message_ = false;
  sink_->on_message(current_);
  return true;
}

// Takes the head off.
bool ShmChannel::begin_message(std::span<const std::byte>& bytes) {
  const auto head = decode_head(bytes);
  if (!head) return false;
  bytes = bytes.subspan(head->bytes);
  current_ = head->message;
  placed_ = 0;
  is_mid_message_ = true;
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
    for (const Slice& slice : slices.slices()) {
      const std::size_t part = std::min(slice.length, bytes.size() - done);
      base::copy_ordered(slice.data, bytes.data() + done, part);
      done += part;
    }
    base::check(done > 0 || bytes.empty(), "a placement covers at least one byte");
    placed_ += done;
    bytes = bytes.subspan(done);
  } while (!bytes.empty());
  return true;
}

}  // namespace softdat::transport::shm
