// SPDX-License-Identifier: BSD-2-Clause
#include "transport/shm/outbound.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/assert.h"
#include "base/ordered_copy.h"
#include "transport/shm/link.h"

namespace softdat::transport::shm {
namespace {

// A piece smaller than this is only written when it is the whole rest of the message.
constexpr std::size_t kSmallestPiece = 2048;

}  // namespace

SendResult Outbound::send(const Message& message, PayloadSource* payload) {
  LinkWriter& writer = link_->writer();
  const bool is_ack = message.opcode == Opcode::kNote && message.note == NoteKind::kAck;
  if (ack_.is_there() && (is_ack || !ack_.may_ride())) tell_ack();
  // Others wait for room before this channel.
  if (writer.is_congested()) return SendResult::kBlocked;
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
        return SendResult::kBlocked;
      case Piece::kFault:
        return fault();
    }
    // The peer copies one piece out while we copy the next one in.
    if (taken_ < total) writer.flush();
  } while (taken_ < total);
  taken_ = 0;
  return SendResult::kDone;
}

bool Outbound::send_short(const ShortSend& short_send) {
  if (short_send.payload.size() >= short_end_.load(std::memory_order_relaxed)) return false;
  const bool has_ack = short_send.acked.has_value() || ack_.is_there();
  const std::uint64_t acked = short_send.acked ? *short_send.acked : ack_.value();
  if (has_ack && !ack_.may_ride(acked)) return false;
  const HeadWord head{.opcode = short_send.opcode,
                      .acks = has_ack ? ack_.as_acks(acked) : std::uint16_t{0},
                      .length = static_cast<std::uint32_t>(short_send.payload.size())};
  if (!link_->writer().put(word_, head, short_send.payload)) return false;
  if (has_ack) ack_.note_told(acked);
  return true;
}

Outbound::Piece Outbound::write_piece(const Message& message, PayloadSource* payload) {
  const std::lock_guard lock(link_->writer().tail());
  RingWriter& ring = link_->writer().ring();
  const std::size_t left = payload_length(message) - taken_;
  const bool is_first = taken_ == 0;
  // Only the first piece has a head; the others are just bytes of the same message.
  const MessageHead head = is_first ? encode_head(message, ack_.as_acks()) : MessageHead{};
  const std::size_t before = kWordBytes + head.bytes();
  if (!ring.has_room(before + std::min(left, kSmallestPiece))) return Piece::kNoRoom;
  const std::size_t length = std::min({left, kMostPayload, ring.room() - before});
  std::byte* to = ring.begin(before + length);
  std::memcpy(to + kWordBytes, head.words.data(), head.bytes());
  if (length > 0 && !fill(payload, to + before, length)) return Piece::kFault;
  publish(is_first ? RecordKind::kMessage : RecordKind::kMore, static_cast<std::uint32_t>(before + length));
  taken_ += length;
  return Piece::kTaken;
}

// With the lock on the ring's tail. The payload's source looks the key up for each piece.
bool Outbound::fill(PayloadSource* payload, std::byte* to, std::size_t length) const {
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

// A record that has been put where the next one goes, and with it what is to be acknowledged.
void Outbound::publish(RecordKind kind, std::uint32_t bytes) {
  link_->writer().ring().publish(pack(RecordWord{.bytes = bytes, .kind = kind, .channel = number_}), bytes);
  link_->writer().mark_written();
  if (ack_.is_there()) ack_.note_told();
}

void Outbound::tell_ack() {
  if (!ack_.is_there()) return;
  const MessageHead head = encode_head({.opcode = Opcode::kNote, .note = NoteKind::kAck, .note_value = ack_.value()});
  link_->writer().post(RecordKind::kMessage, number_, std::as_bytes(std::span(head.words)).first(head.bytes()));
  ack_.note_told();
}

// The memory of the message cannot be read. What is left of it will not come.
SendResult Outbound::fault() {
  return std::exchange(taken_, 0) == 0 ? SendResult::kFault : SendResult::kFaultMidway;
}

}  // namespace softdat::transport::shm
