// SPDX-License-Identifier: BSD-2-Clause
// Messages in and out while the connection is open.
#include <sys/socket.h>

#include <cerrno>

#include "base/assert.h"
#include "transport/tcp/connection.h"

namespace softdat::transport::tcp {

SendResult Connection::send(const Message& message, PayloadSource* payload) {
  if (!tap_) [[likely]]
    return send_message(message, payload);
  tap_->before_send();
  const SendResult result = send_message(message, payload);
  if (result == SendResult::kDone) tap_->on_sent(message, payload);
  return result;
}

inline SendResult Connection::send_message(const Message& message, PayloadSource* payload) {
  base::check(message.opcode != Opcode::kTerminate, "terminate() sends a Terminate, not send()");
  if (verdict_ || refusal_ || state_ == State::kDraining || state_ == State::kClosed) return SendResult::kClosed;
  if (state_ != State::kOpen || (is_blocked_ && is_write_wanted_)) {
    is_blocked_ = true;
    return SendResult::kBlocked;
  }
  return after_write(outbound_.send(fd_.get(), message, payload));
}

SendResult Connection::after_write(WriteStatus status) {
  switch (status) {
    case WriteStatus::kDone:
      return SendResult::kDone;
    case WriteStatus::kBlocked:
      is_blocked_ = true;
      want_write();
      return SendResult::kBlocked;
    case WriteStatus::kYielded:
      is_blocked_ = true;
      hub_.defer(shared_from_this());
      return SendResult::kBlocked;
    case WriteStatus::kFault:
      return SendResult::kFault;
    case WriteStatus::kFaultMidway:
      return SendResult::kFaultMidway;
    case WriteStatus::kLost:
      fail_later(CloseReason::kLost);
      return SendResult::kClosed;
  }
  return SendResult::kClosed;
}

void Connection::flush() {
  if (state_ != State::kOpen || verdict_ || is_write_wanted_ || outbound_.is_flushed()) return;
  hub_.note_active(shared_from_this());
  const WriteStatus status = outbound_.flush(fd_.get());
  if (status == WriteStatus::kBlocked) want_write();
  if (status == WriteStatus::kLost) fail_later(CloseReason::kLost);
}

// The sink hears it from the next turn. Until then what the peer sent before the end still counts:
// its bye may be among it.
void Connection::fail_later(CloseReason reason) {
  verdict_ = reason;
  hub_.defer(shared_from_this());
}

bool Connection::read_stream() {
  const ReadOutcome outcome = inbound_.read(fd_.get(), hub_.options().read_budget);
  if (outcome.bytes > 0) hub_.note_done();
  if (is_receiving()) heed(outcome);
  return outcome.bytes > 0 || outcome.status != ReadStatus::kDrained;
}

void Connection::heed(const ReadOutcome& outcome) {
  switch (outcome.status) {
    case ReadStatus::kDrained:
    case ReadStatus::kStopped:
      return;
    case ReadStatus::kMore:
      return hub_.defer(shared_from_this());
    case ReadStatus::kEnd:
      return on_stream_end();
    case ReadStatus::kLost:
      return end_with(CloseReason::kLost, {});
    case ReadStatus::kFault:
      return terminate_with(outcome.fault, CloseReason::kProtocolError);
  }
}

// Our own peers say bye first; of others the end of the stream is all there is. It is also what the socket reports
// after a write has taken the error of a network that failed.
void Connection::on_stream_end() {
  const bool has_failed = verdict_ == CloseReason::kLost && !outbound_.is_ended_by_peer();
  const bool is_orderly = !agreement_.is_own && inbound_.is_at_border() && !has_failed;
  end_with(is_orderly ? CloseReason::kBye : CloseReason::kLost, {});
}

// The peer's first FPDU is also its word that it is there.
bool Connection::heed_first_sign() {
  if (!is_established_) release_hold();
  return is_receiving();
}

Placement Connection::place(const Arrival& arrival, SliceList& out) {
  if (!heed_first_sign()) return Placement::kDiscard;
  return sink_->place(arrival, out);
}

void Connection::on_fault(const Arrival& arrival) {
  sink_->on_fault(arrival);
}

void Connection::on_message(const Message& message) {
  if (message.opcode == Opcode::kTerminate) return end_with(CloseReason::kTerminated, message.terminate);
  if (!heed_first_sign()) return;
  const bool is_bye = message.opcode == Opcode::kNote && message.note == NoteKind::kBye;
  if (is_bye) return end_with(CloseReason::kBye, {});
  sink_->on_message(message);
}

void Connection::on_ready_to_receive(const Message& message) {
  if (message.opcode == Opcode::kReadRequest) answer_empty_read(message);
  heed_first_sign();
}

// RFC 6581 section 4.2: a Read that only says "ready" is answered like any other, by as little.
void Connection::answer_empty_read(const Message& message) {
  const Message response{.opcode = Opcode::kReadResponse, .stag = message.stag, .offset = message.offset};
  const WriteStatus status = outbound_.send(fd_.get(), response, nullptr);
  if (status == WriteStatus::kLost || outbound_.flush(fd_.get()) == WriteStatus::kLost) fail_later(CloseReason::kLost);
}

}  // namespace softdat::transport::tcp
