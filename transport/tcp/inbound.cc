// SPDX-License-Identifier: BSD-2-Clause
// The parser: a chain of small steps over the bytes at hand. A step says whether it moved on; when
// it did not, bytes are missing, the peer is at fault, or the sink has stopped receiving.
#include "transport/tcp/inbound.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "base/byte_order.h"
#include "base/ordered_copy.h"
#include "transport/tcp/crc32c.h"
#include "transport/tcp/fault.h"
#include "transport/tcp/fpdu.h"
#include "transport/tcp/message_body.h"
#include "transport/tcp/note.h"
#include "transport/tcp/terminate.h"

namespace softdat::transport::tcp {
namespace {

constexpr std::size_t kControlSize = 2;
constexpr std::size_t kLargePayload = 16384;
constexpr std::size_t kHeadReadAhead = 1024;

std::uint32_t load_little_endian(const std::byte* from) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i) value |= std::to_integer<std::uint32_t>(from[i]) << (8 * i);
  return value;
}

}  // namespace

std::span<const std::byte> Inbound::segment_head() const {
  if (!is_quotable()) return {};
  return std::span(head_).first(shape_.head_size());
}

bool Inbound::blame(const TerminateCode& code) {
  SOFTDAT_DEBUG_CHECK(!fault_, "the parser stops at the first fault");
  fault_ = code;
  return false;
}

// A head that means nothing is still quoted.
bool Inbound::blame_head(const TerminateCode& code, std::span<const std::byte> head) {
  SOFTDAT_DEBUG_CHECK(head.size() <= head_.size(), "a head that is quoted has room", head.size());
  shape_ = {.ddp_size = head.size()};
  std::memcpy(head_.data(), head.data(), head.size());
  is_in_segment_ = true;
  return blame(code);
}

bool Inbound::step() {
  switch (stage_) {
    case Stage::kHead:
      return parse_head();
    case Stage::kPayload:
      return pass_payload();
    case Stage::kTrailer:
      return pass_trailer();
  }
  return false;
}

bool Inbound::parse_head() {
  SOFTDAT_DEBUG_CHECK(payload_left_ == 0 && trailer_left_ == 0, "a segment has ended before the next head is read",
                      payload_left_, trailer_left_);
  const std::span<const std::byte> bytes = buffer_.bytes();
  if (bytes.size() < kLengthSize + kControlSize) return false;
  ulpdu_length_ = base::load_be<std::uint16_t>(bytes.data());
  if (rules_.has_crc) {
    // Nothing of it is believed, its control bytes included, before the whole has been checked.
    if (bytes.size() < fpdu_size(ulpdu_length_)) return false;
    if (!is_crc_good(bytes.first(fpdu_size(ulpdu_length_)))) return blame(fault::kCrc);
  }
  const std::size_t ddp_size = std::min<std::size_t>(ulpdu_length_, ddp_size_of(bytes[kLengthSize]));
  if (bytes.size() < kLengthSize + ddp_size) return false;
  const auto shape = decode_shape(ulpdu_length_, bytes.subspan(kLengthSize));
  if (!shape.ok()) return blame_head(shape.reason(), bytes.subspan(kLengthSize, ddp_size));
  if (bytes.size() < kLengthSize + shape.value().head_size()) return false;
  return begin_segment(shape.value(), bytes.subspan(kLengthSize));
}

bool Inbound::is_crc_good(std::span<const std::byte> bytes) {
  const std::span<const std::byte> covered = bytes.first(bytes.size() - kCrcSize);
  return crc32c(0, covered) == load_little_endian(bytes.data() + covered.size());
}

bool Inbound::begin_segment(const SegmentShape& shape, std::span<const std::byte> ulpdu) {
  SOFTDAT_DEBUG_CHECK(!is_in_segment_, "one segment is read at a time");
  SOFTDAT_DEBUG_CHECK(shape.head_size() <= head_.size(), "decode_shape() refuses a head that has no room",
                      shape.head_size());
  shape_ = shape;
  std::memcpy(head_.data(), ulpdu.data(), shape.head_size());
  segment_ = decode_segment(shape, ulpdu);
  buffer_.consume(kLengthSize + shape.head_size());
  payload_left_ = shape.payload;
  // Where large payload comes, more is likely to follow: read its heads, not its bytes, into here.
  if (shape.payload >= kLargePayload) read_ahead_ = kHeadReadAhead;
  trailer_left_ = trailer_of(ulpdu_length_);
  is_in_segment_ = true;
  kind_ = Kind::kPlain;
  owes_place_ = false;
  stage_ = Stage::kPayload;
  return is_tagged(segment_.opcode) ? begin_tagged() : begin_untagged();
}

// A Write of no bytes is a note, the RTR of peer-to-peer mode, or just that. A note may come where
// a message was broken off.
Inbound::Kind Inbound::kind_of_empty_write() const {
  if (segment_.opcode != Opcode::kWrite || shape_.payload != 0 || !segment_.is_last) return Kind::kPlain;
  if (rules_.expects_rtr && is_first_) return Kind::kReadyToReceive;
  if (!rules_.knows_notes || segment_.stag != kNoteStag) return Kind::kPlain;
  return decode_note(segment_.offset) ? Kind::kNote : Kind::kPlain;
}

bool Inbound::begin_tagged() {
  kind_ = kind_of_empty_write();
  if (kind_ != Kind::kPlain) return true;
  if (shape_.payload > 0 && segment_.offset + (shape_.payload - 1) < segment_.offset) return blame(fault::kTaggedWrap);
  return begin_message(tagged_);
}

bool Inbound::check_queue() {
  const std::uint32_t expected = row_of(segment_.opcode).queue;
  if (segment_.queue >= kQueueCount) return blame(fault::kInvalidQueue);
  if (segment_.queue != expected) return blame(fault::kUnexpectedOpcode);
  // A Terminate ends everything, so nobody counts them.
  if (segment_.opcode == Opcode::kTerminate) return true;
  if (segment_.sequence != next_sequence_[expected]) return blame(fault::kSequenceRange);
  return true;
}

bool Inbound::begin_untagged() {
  if (!check_queue()) return false;
  if (carries_payload(segment_.opcode)) {
    if (segment_.message_offset != (untagged_.is_active ? untagged_.done : 0)) return blame(fault::kMessageOffset);
    return begin_message(untagged_);
  }
  if (segment_.message_offset != 0) return blame(fault::kMessageOffset);
  if (!segment_.is_last) return blame(fault::kMessageTooLong);
  if (segment_.queue == kSendQueue && untagged_.is_active) return blame(fault::kUnexpectedOpcode);
  return true;
}

bool Inbound::begin_message(Progress& progress) {
  SOFTDAT_DEBUG_CHECK(carries_payload(segment_.opcode), "messages in several segments carry payload",
                      static_cast<std::uint64_t>(segment_.opcode));
  if (!progress.is_active) {
    progress = {.is_active = true, .message = {.opcode = segment_.opcode, .stag = segment_.stag}};
    if (is_tagged(segment_.opcode)) progress.message.offset = segment_.offset;
    const bool is_plain_send = segment_.opcode == Opcode::kSend || segment_.opcode == Opcode::kSendSolicited;
    if (is_plain_send) progress.message.stag = 0;
    const bool carries_ack = is_plain_send && rules_.acks_ride && segment_.stag != 0;
    if (carries_ack && !hear_riding_ack()) return false;
  } else if (progress.message.opcode != segment_.opcode) {
    return blame(fault::kUnexpectedOpcode);
  }
  if (progress.done + shape_.payload > UINT32_MAX) return blame(fault::kMessageTooLong);
  owes_place_ = segment_.is_last && progress.done + shape_.payload == 0;
  return true;
}

// The sink hears the ack before the message. False when the sink has stopped receiving.
bool Inbound::hear_riding_ack() {
  SOFTDAT_DEBUG_CHECK(rules_.acks_ride, "acks ride where both sides agreed on it");
  heard_ack_ += segment_.stag;
  sink_.on_message({.opcode = Opcode::kNote, .note = NoteKind::kAck, .note_value = heard_ack_});
  return sink_.is_receiving();
}

bool Inbound::pass_payload() {
  SOFTDAT_DEBUG_CHECK(is_in_segment_, "payload belongs to a segment whose head was read");
  if (payload_left_ > 0) return place_staged();
  if (owes_place_) {
    owes_place_ = false;
    SliceList none;
    Placement placement = Placement::kPlace;
    if (!ask(0, none, placement)) return false;
  }
  stage_ = Stage::kTrailer;
  return true;
}

bool Inbound::place_staged() {
  const std::size_t length = std::min(payload_left_, buffer_.size());
  if (length == 0) return false;
  SliceList slices;
  Placement placement = Placement::kPlace;
  if (!ask(length, slices, placement)) return false;
  std::optional<std::size_t> passed = length;
  if (placement == Placement::kPlace) passed = copy_staged(slices, length);
  if (!passed) return report_fault(length);
  base::check(*passed > 0, "a placement covers at least one byte");
  buffer_.consume(*passed);
  advance(*passed);
  return true;
}

// The bytes stay, and the sink will not want them. False when it has stopped receiving.
bool Inbound::report_fault(std::size_t length) {
  sink_.on_fault(arrival_of(length));
  return sink_.is_receiving();
}

Arrival Inbound::arrival_of(std::size_t length) {
  SOFTDAT_DEBUG_CHECK(length <= payload_left_ && payload_left_ <= shape_.payload,
                      "a place is asked for bytes of the present segment", length, payload_left_);
  const Progress& message = progress();
  const std::size_t into_segment = shape_.payload - payload_left_;
  return {.opcode = segment_.opcode,
          .first = message.done == 0,
          .stag = is_tagged(segment_.opcode) ? segment_.stag : 0,
          .offset = is_tagged(segment_.opcode) ? segment_.offset + into_segment : 0,
          .message_offset = message.done,
          .length = length};
}

// False when the sink has stopped receiving.
bool Inbound::ask(std::size_t length, SliceList& slices, Placement& placement) {
  placement = sink_.place(arrival_of(length), slices);
  return sink_.is_receiving();
}

// Nothing: the place faults.
std::optional<std::size_t> Inbound::copy_staged(const SliceList& slices, std::size_t length) {
  const std::byte* from = buffer_.bytes().data();
  std::size_t done = 0;
  for (const Slice& slice : slices.slices()) {
    const std::size_t part = std::min(slice.length, length - done);
    if (!base::copy_ordered(slice.data, from + done, part)) return std::nullopt;
    done += part;
  }
  return done;
}

void Inbound::advance(std::size_t length) {
  SOFTDAT_DEBUG_CHECK(length <= payload_left_, "no more is passed on than the segment has", length, payload_left_);
  SOFTDAT_DEBUG_CHECK(progress().is_active, "payload belongs to a message that has begun");
  payload_left_ -= length;
  progress().done += length;
}

// The trailer is taken as a whole, because its last four bytes may be the void mark.
bool Inbound::pass_trailer() {
  SOFTDAT_DEBUG_CHECK(payload_left_ == 0, "the trailer comes behind all of the payload", payload_left_);
  SOFTDAT_DEBUG_CHECK(trailer_left_ >= kCrcSize && trailer_left_ <= kMaxTrailer, "a trailer is padding and a CRC field",
                      trailer_left_);
  if (buffer_.size() < trailer_left_) return false;
  const bool is_void_segment = is_void(buffer_.bytes().first(trailer_left_));
  buffer_.consume(std::exchange(trailer_left_, 0));
  return finish_segment(is_void_segment);
}

bool Inbound::is_void(std::span<const std::byte> trailer) const {
  if (!rules_.knows_voids || rules_.has_crc) return false;
  return load_little_endian(trailer.last(kCrcSize).data()) == kVoidMark;
}

// A void message stays unfinished. Its sender has only a Terminate left to send.
bool Inbound::finish_segment(bool is_void) {
  SOFTDAT_DEBUG_CHECK(is_in_segment_, "a segment that ends has begun");
  stage_ = Stage::kHead;
  if (segment_.is_last && !is_void) {
    if (!is_tagged(segment_.opcode)) ++next_sequence_[segment_.queue];
    deliver();
  }
  is_in_segment_ = false;
  is_first_ = false;
  return sink_.is_receiving();
}

void Inbound::deliver() {
  Message message{.opcode = segment_.opcode};
  if (kind_ == Kind::kNote) {
    const Note note = *decode_note(segment_.offset);
    if (note.kind == NoteKind::kAck) heard_ack_ = note.value;
    return sink_.on_message({.opcode = Opcode::kNote, .note = note.kind, .note_value = note.value});
  }
  if (kind_ == Kind::kReadyToReceive) return sink_.on_ready_to_receive(message);
  if (carries_payload(segment_.opcode)) {
    SOFTDAT_DEBUG_CHECK(progress().is_active, "a message that is delivered has begun");
    message = progress().message;
    message.length = static_cast<std::uint32_t>(progress().done);
    progress() = {};
    return sink_.on_message(message);
  }
  const std::span<const std::byte> body = std::span(head_).subspan(shape_.ddp_size, shape_.body_size);
  decode_body(body, message);
  if (segment_.opcode == Opcode::kTerminate) message.terminate = decode_terminate(body).code;
  const bool is_empty_read = segment_.opcode == Opcode::kReadRequest && message.length == 0;
  if (rules_.expects_rtr && is_first_ && is_empty_read) return sink_.on_ready_to_receive(message);
  sink_.on_message(message);
}

}  // namespace softdat::transport::tcp
