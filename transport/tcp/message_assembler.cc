// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/message_assembler.h"

#include "base/assert.h"
#include "transport/tcp/fault.h"
#include "transport/tcp/message_body.h"
#include "transport/tcp/note.h"
#include "transport/tcp/terminate.h"

namespace softdat::transport::tcp {

bool MessageAssembler::take_whole_send(const WholeSend& send, std::span<const std::byte> payload) {
  SOFTDAT_DEBUG_CHECK(payload_left_ == 0, "one segment is read at a time", payload_left_);
  if (send.sequence != next_sequence_[kSendQueue] || untagged_.is_active) return false;
  ShortSend short_send{.opcode = send.opcode, .payload = payload};
  if (rules_.acks_ride && send.stag != 0) short_send.acked = heard_ack_ + send.stag;
  if (!sink_.on_short_send(short_send)) return false;
  if (short_send.acked) heard_ack_ = *short_send.acked;
  ++next_sequence_[kSendQueue];
  is_first_ = false;
  return true;
}

std::optional<TerminateCode> MessageAssembler::begin(const Segment& segment, std::size_t payload) {
  SOFTDAT_DEBUG_CHECK(payload_left_ == 0, "one segment is read at a time", payload_left_);
  segment_ = segment;
  payload_ = payload_left_ = payload;
  kind_ = Kind::kPlain;
  owes_ack_ = owes_place_ = false;
  return is_tagged(segment.opcode) ? begin_tagged() : begin_untagged();
}

// A Write of no bytes is a note, the RTR of peer-to-peer mode, or just that. A note may come where
// a message was broken off.
MessageAssembler::Kind MessageAssembler::kind_of_empty_write() const {
  if (segment_.opcode != Opcode::kWrite || payload_ != 0 || !segment_.is_last) return Kind::kPlain;
  if (rules_.expects_rtr && is_first_) return Kind::kReadyToReceive;
  if (!rules_.knows_notes || segment_.stag != kNoteStag) return Kind::kPlain;
  return decode_note(segment_.offset) ? Kind::kNote : Kind::kPlain;
}

std::optional<TerminateCode> MessageAssembler::begin_tagged() {
  kind_ = kind_of_empty_write();
  if (kind_ != Kind::kPlain) return std::nullopt;
  // RFC 5041 section 7.1: a tagged offset must not wrap around.
  if (payload_ > 0 && segment_.offset + (payload_ - 1) < segment_.offset) return fault::kTaggedWrap;
  return begin_message(tagged_);
}

std::optional<TerminateCode> MessageAssembler::check_queue() const {
  const std::uint32_t expected = row_of(segment_.opcode).queue;
  if (segment_.queue >= kQueueCount) return fault::kInvalidQueue;
  // RFC 5040 section 4.2 binds each opcode to a queue.
  if (segment_.queue != expected) return fault::kUnexpectedOpcode;
  // A Terminate ends everything, so nobody counts them.
  if (segment_.opcode == Opcode::kTerminate) return std::nullopt;
  if (segment_.sequence != next_sequence_[expected]) return fault::kSequenceRange;
  return std::nullopt;
}

std::optional<TerminateCode> MessageAssembler::begin_untagged() {
  if (const auto wrong = check_queue()) return wrong;
  if (carries_payload(segment_.opcode)) {
    // TCP delivers in order, so the next segment must go on where the last one ended (RFC 5041 section 5.3).
    if (segment_.message_offset != (untagged_.is_active ? untagged_.done : 0)) return fault::kMessageOffset;
    return begin_message(untagged_);
  }
  if (segment_.message_offset != 0) return fault::kMessageOffset;
  if (!segment_.is_last) return fault::kMessageTooLong;
  // Immediate Data within a Send: both belong to queue 0, where a message ends before the next one begins.
  if (segment_.queue == kSendQueue && untagged_.is_active) return fault::kUnexpectedOpcode;
  return std::nullopt;
}

std::optional<TerminateCode> MessageAssembler::begin_message(Progress& progress) {
  SOFTDAT_DEBUG_CHECK(carries_payload(segment_.opcode), "messages in several segments carry payload",
                      static_cast<std::uint64_t>(segment_.opcode));
  if (!progress.is_active) {
    progress = {.is_active = true, .message = {.opcode = segment_.opcode, .stag = segment_.stag}};
    if (is_tagged(segment_.opcode)) progress.message.offset = segment_.offset;
    const bool is_plain_send = segment_.opcode == Opcode::kSend || segment_.opcode == Opcode::kSendSolicited;
    if (is_plain_send) progress.message.stag = 0;
    // The field that RFC 5040 uses for Send with Invalidate carries the riding ack here (docs/WIRE.md, feature 128).
    owes_ack_ = is_plain_send && rules_.acks_ride && segment_.stag != 0;
  } else if (progress.message.opcode != segment_.opcode) {
    return fault::kUnexpectedOpcode;
  }
  if (progress.done + payload_ > UINT32_MAX) return fault::kMessageTooLong;
  // An empty message is announced to the sink too, which must take its receive.
  owes_place_ = segment_.is_last && progress.done + payload_ == 0;
  return std::nullopt;
}

bool MessageAssembler::announce() {
  if (owes_ack_ && !hear_riding_ack()) return false;
  if (!owes_place_) return true;
  SliceList none;
  Placement placement = Placement::kPlace;
  return ask(0, none, placement);
}

// The sink hears the ack before the message.
bool MessageAssembler::hear_riding_ack() {
  SOFTDAT_DEBUG_CHECK(rules_.acks_ride, "acks ride where both sides agreed on it");
  // The field counts from the last ack, whichever way that one came.
  heard_ack_ += segment_.stag;
  sink_.on_message({.opcode = Opcode::kNote, .note = NoteKind::kAck, .note_value = heard_ack_});
  return sink_.is_receiving();
}

// RFC 5041: tagged segments name their place by offset, untagged ones by the offset in the message.
Arrival MessageAssembler::arrival_of(std::size_t length) {
  SOFTDAT_DEBUG_CHECK(length <= payload_left_ && payload_left_ <= payload_,
                      "a place is asked for bytes of the present segment", length, payload_left_);
  const Progress& message = progress();
  const std::size_t into_segment = payload_ - payload_left_;
  return {.opcode = segment_.opcode,
          .first = message.done == 0,
          .stag = is_tagged(segment_.opcode) ? segment_.stag : 0,
          .offset = is_tagged(segment_.opcode) ? segment_.offset + into_segment : 0,
          .message_offset = message.done,
          .length = length};
}

bool MessageAssembler::ask(std::size_t length, SliceList& slices, Placement& placement) {
  placement = sink_.place(arrival_of(length), slices);
  return sink_.is_receiving();
}

bool MessageAssembler::report_fault(std::size_t length) {
  sink_.on_fault(arrival_of(length));
  return sink_.is_receiving();
}

void MessageAssembler::advance(std::size_t length) {
  SOFTDAT_DEBUG_CHECK(length <= payload_left_, "no more is passed on than the segment has", length, payload_left_);
  SOFTDAT_DEBUG_CHECK(progress().is_active, "payload belongs to a message that has begun");
  payload_left_ -= length;
  progress().done += length;
}

bool MessageAssembler::end(std::span<const std::byte> body, bool is_void) {
  SOFTDAT_DEBUG_CHECK(payload_left_ == 0, "a segment ends behind all of its payload", payload_left_);
  // A void message is placed and not delivered; its sender ends the connection next (docs/WIRE.md, "Ends").
  if (segment_.is_last && !is_void) {
    if (!is_tagged(segment_.opcode)) ++next_sequence_[segment_.queue];
    deliver(body);
  }
  is_first_ = false;
  return sink_.is_receiving();
}

// progress() is reset before the sink is called, which may end the connection.
void MessageAssembler::deliver(std::span<const std::byte> body) {
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
  decode_body(body, message);
  if (segment_.opcode == Opcode::kTerminate) message.terminate = decode_terminate(body).code;
  const bool is_empty_read = segment_.opcode == Opcode::kReadRequest && message.length == 0;
  if (rules_.expects_rtr && is_first_ && is_empty_read) return sink_.on_ready_to_receive(message);
  sink_.on_message(message);
}

}  // namespace softdat::transport::tcp
