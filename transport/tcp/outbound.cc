// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/outbound.h"

#include <sys/socket.h>

#include <algorithm>

#include "base/assert.h"
#include "base/byte_order.h"
#include "base/ordered_copy.h"
#include "transport/tcp/crc32c.h"
#include "transport/tcp/fpdu.h"

namespace softdat::transport::tcp {
namespace {

// Up to here copying costs less than a system call of its own.
constexpr std::size_t kCopyLimit = 8192;
constexpr std::size_t kPartUnit = 64;
// Bytes that one call of send() moves at most, so that one channel cannot hold the baton.
constexpr std::size_t kSendBudget = std::size_t{2} << 20;

// Whether `again` is the message that was taken in part.
bool is_same(const Message& message, const Message& again) {
  return message.opcode == again.opcode && message.length == again.length && message.stag == again.stag &&
         message.offset == again.offset;
}

bool copy_slice(std::span<const std::byte> slice, std::byte* to, std::uint32_t* crc) {
  if (crc == nullptr) return base::copy_in(to, slice.data(), slice.size());
  const auto sum = copy_crc32c(*crc, to, slice);
  if (sum) *crc = *sum;
  return sum.has_value();
}

// The gathered bytes are copied at once, so that what the CRC covers is what is sent. `crc`: goes on over them.
bool copy_payload(PayloadSource* payload, std::uint64_t offset, std::size_t length, std::byte* to, std::uint32_t* crc) {
  std::size_t done = 0;
  while (done < length) {
    SliceList slices;
    if (!payload->gather(offset + done, length - done, slices)) return false;
    const std::size_t before = done;
    for (const Slice& slice : slices.slices()) {
      const std::size_t part = std::min(slice.length, length - done);
      if (!copy_slice({slice.data, part}, to + done, crc)) return false;
      done += part;
    }
    base::check(done > before, "a gather covers at least one byte");
  }
  return true;
}

}  // namespace

// Equal parts, nearly: a small one at the end would cost its receiver as much as a large one.
std::size_t Outbound::part_at(const Message& message, std::uint32_t taken) const {
  const std::size_t most = stream_.rules().max_ulpdu - ddp_size_of(message.opcode);
  const std::size_t total = payload_length(message);
  SOFTDAT_DEBUG_CHECK(taken <= total, "a message has the bytes that were taken of it", taken, total);
  if (total <= most) return total - taken;
  const std::size_t parts = (total + most - 1) / most;
  const std::size_t even = (total + parts - 1) / parts;
  return std::min({total - taken, most, even + (kPartUnit - even % kPartUnit) % kPartUnit});
}

std::size_t Outbound::encode_head(const Message& message, std::uint32_t taken, std::size_t payload,
                                  std::byte* to) const {
  SOFTDAT_DEBUG_CHECK(static_cast<std::size_t>(message.opcode) < kOpcodeTable.size() && row_of(message.opcode).is_known,
                      "only opcodes of the wire have a head", static_cast<std::uint64_t>(message.opcode));
  const std::uint32_t sequence = next_sequence_[row_of(message.opcode).queue];
  return encode_fpdu_head(message, taken, payload, sequence, stream_.rules().knows_notes, to);
}

Outbound::Head Outbound::make_head(const Message& message, std::uint32_t taken, std::size_t payload) const {
  Head head;
  head.size = encode_head(message, taken, payload, head.bytes.data());
  return head;
}

bool Outbound::goes_direct(const Message& message) const {
  return payload_length(message) > kCopyLimit && !stream_.rules().has_crc && !stream_.rules().is_one_by_one && !damage_;
}

WriteStatus Outbound::send(int fd, const Message& message, PayloadSource* payload) {
  base::check(!is_in_message_ || is_same(message_, message), "a message taken in part comes again", taken_);
  SOFTDAT_DEBUG_CHECK(is_in_message_ || (stream_.is_at_border() && taken_ == 0), "a message taken in part is under way",
                      stream_.position(), taken_);
  if (message.opcode == Opcode::kNote) return send_note(fd, message.note, message.note_value);
  // This message cannot carry the ack, so it goes first, as a note of its own (docs/WIRE.md, "Notes").
  if (stream_.ack().is_waiting() && !takes_ack(message)) {
    const WriteStatus room = stream_.make_room(fd, kMaxFpduHead);
    if (room != WriteStatus::kDone) return room;
    stream_.append_waiting_ack();  // unless a flush that made room has taken it
  }
  return goes_direct(message) ? send_direct(fd, message, payload) : send_copied(fd, message, payload);
}

bool Outbound::send_short(const ShortSend& short_send) {
  const std::size_t length = short_send.payload.size();
  const std::size_t ulpdu = kUntaggedHeadSize + length;
  const OutboundRules& rules = stream_.rules();
  if (length > kCopyLimit || ulpdu > rules.max_ulpdu || is_in_message_ || damage_) return false;
  if (short_send.acked && !rules.acks_ride) return false;
  if (!stream_.has_room(fpdu_size(ulpdu))) return false;
  std::byte* const at = stream_.begin_fpdu(ulpdu);
  if (length > 0 && !base::copy_in(at + kLengthSize + kUntaggedHeadSize, short_send.payload.data(), length))
    return false;
  WaitingAck& ack = stream_.ack();
  if (short_send.acked && !ack.offer(*short_send.acked)) return false;
  base::store_be(at, static_cast<std::uint16_t>(ulpdu));
  std::uint32_t& sequence = next_sequence_[kSendQueue];
  encode_segment({.opcode = short_send.opcode, .queue = kSendQueue, .sequence = sequence++}, at + kLengthSize);
  if (ack.is_waiting()) {
    ack.put_into(at);
    ack.take();
  }
  stream_.end_fpdu(at, ulpdu, rules.has_crc ? crc32c(0, {at, kLengthSize + ulpdu}) : 0);
  return true;
}

WriteStatus Outbound::send_note(int fd, NoteKind kind, std::uint64_t value) {
  base::check(stream_.rules().knows_notes, "notes go to those who know them");
  if (kind == NoteKind::kAck && stream_.rules().acks_ride && stream_.ack().offer(value)) return WriteStatus::kDone;
  const WriteStatus room = stream_.make_room(fd, kMaxFpduHead);
  if (room == WriteStatus::kDone) stream_.append_note(kind, value);
  return room;
}

WriteStatus Outbound::send_copied(int fd, const Message& message, PayloadSource* payload) {
  const std::size_t total = payload_length(message);
  for (std::size_t appended = 0;;) {
    if (appended >= kSendBudget) return WriteStatus::kYielded;
    const std::size_t part = part_at(message, taken_);
    const WriteStatus room = stream_.make_room(fd, fpdu_size(ulpdu_size(message, part)));
    if (room != WriteStatus::kDone) return room;
    if (!append_fpdu(message, payload, part)) return fault();
    appended += part;
    taken_ += static_cast<std::uint32_t>(part);
    const bool is_whole = taken_ == total;
    // The owner must offer this message again after kBlocked: no other may come between its segments.
    if (!is_whole) note_progress(message);
    if (stream_.rules().is_one_by_one && stream_.flush(fd) == WriteStatus::kLost) return WriteStatus::kLost;
    if (is_whole) break;
  }
  finish_message(message);
  return WriteStatus::kDone;
}

// Its next `part` bytes of payload, for which there is room.
bool Outbound::append_fpdu(const Message& message, PayloadSource* payload, std::size_t part) {
  const std::size_t ulpdu = ulpdu_size(message, part);
  std::byte* const at = stream_.begin_fpdu(ulpdu);
  const std::size_t head = encode_head(message, taken_, part, at);
  const bool carries_ack = stream_.ack().is_waiting() && takes_ack(message);
  if (carries_ack) stream_.ack().put_into(at);
  const bool has_crc = stream_.rules().has_crc;
  std::uint32_t crc = has_crc ? crc32c(0, {at, head}) : 0;
  if (part > 0 && !copy_payload(payload, taken_, part, at + head, has_crc ? &crc : nullptr)) return false;
  stream_.end_fpdu(at, ulpdu, crc);
  if (damage_) [[unlikely]]
    carry_out_damage(at, head, part);
  // Only now: a fault above must leave the ack waiting.
  if (carries_ack) stream_.ack().take();
  return true;
}

// Whether the next FPDU is the first of a plain send. One that goes direct may be built again after a partial write,
// and must be the same then.
bool Outbound::takes_ack(const Message& message) const {
  const bool is_send = message.opcode == Opcode::kSend || message.opcode == Opcode::kSendSolicited;
  return is_send && taken_ == 0 && !goes_direct(message);
}

// The length of the FPDU stays as it is: a wrong one would only make the receiver wait.
void Outbound::carry_out_damage(std::byte* fpdu, std::size_t head, std::size_t part) {
  const auto mask = static_cast<std::byte>(1u << damage_->bit);
  if (damage_->is_header) {
    fpdu[kLengthSize + damage_->place % (head - kLengthSize)] ^= mask;
  } else if (damage_->place >= taken_ && damage_->place - taken_ < part) {
    fpdu[head + (damage_->place - taken_)] ^= mask;
  } else {
    return;
  }
  damage_.reset();
}

void Outbound::send_part(int fd, const Message& message, PayloadSource* payload) {
  const std::size_t part = part_at(message, taken_);
  const std::size_t size = fpdu_size(ulpdu_size(message, part));
  if (!stream_.is_at_border() || stream_.flush(fd) != WriteStatus::kDone) return;
  if (stream_.make_room(fd, size) != WriteStatus::kDone || !append_fpdu(message, payload, part)) return;
  const auto bytes = stream_.waiting_bytes();
  static_cast<void>(!::send(fd, bytes.data(), bytes.size() / 2, MSG_NOSIGNAL | MSG_DONTWAIT));
}

void Outbound::note_progress(const Message& message) {
  if (is_in_message_) return;
  is_in_message_ = true;
  message_ = message;
}

void Outbound::finish_message(const Message& message) {
  SOFTDAT_DEBUG_CHECK(taken_ == payload_length(message), "a message ends with its last byte", taken_, message.length);
  SOFTDAT_DEBUG_CHECK(stream_.is_at_border(), "a message ends with a whole FPDU", stream_.position());
  if (!is_tagged(message.opcode)) ++next_sequence_[row_of(message.opcode).queue];
  is_in_message_ = false;
  taken_ = 0;
}

}  // namespace softdat::transport::tcp
