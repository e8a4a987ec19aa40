// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/message_receiver.h"

namespace softdat::transport::tcp {

void MessageReceiver::start() {
  const Agreement& agreement = terms_.agreement;
  inbound_.start({.has_crc = agreement.has_crc,
                  .knows_notes = agreement.is_own,
                  .expects_rtr = !terms_.is_initiator && agreement.rtr != 0,
                  .knows_voids = (agreement.features & kVoids) != 0,
                  .acks_ride = agreement.acks_ride()});
  sender_.start();
}

void MessageReceiver::terminate(const TerminateCode& code) {
  if (base_.state() != State::kOpen || teardown_.has_verdict()) return teardown_.close(CloseMode::kAbrupt);
  if (ChannelTap* const tap = base_.owner().tap()) tap->on_terminate(code);
  // The sink hears no more: it asked for the Terminate itself.
  base_.owner().detach();
  send_terminate(code);
}

void MessageReceiver::send_terminate(const TerminateCode& code) {
  teardown_.terminate(make_terminate(code, inbound_.quoted_length(), inbound_.quoted_head()));
}

bool MessageReceiver::read() {
  const ReadOutcome outcome = inbound_.read(base_.socket().fd(), base_.options().read_budget);
  if (outcome.bytes > 0) base_.hub().note_done();
  if (base_.is_receiving()) on_outcome(outcome);
  return outcome.bytes > 0 || outcome.status != ReadStatus::kDrained;
}

// REQUIRES: the connection still receives. Each case but the first two ends it or defers it.
void MessageReceiver::on_outcome(const ReadOutcome& outcome) {
  switch (outcome.status) {
    case ReadStatus::kDrained:
    case ReadStatus::kStopped:
      return;
    case ReadStatus::kMore:
      return base_.hub().defer(base_);
    case ReadStatus::kEnd:
      return on_stream_end();
    case ReadStatus::kLost:
      return teardown_.lose();
    case ReadStatus::kFault:
      return send_terminate(outcome.fault);
  }
}

// Our own peers say bye first; of others the end of the stream is all there is. It is also what the socket reports
// after a write has taken the error of a network that failed.
void MessageReceiver::on_stream_end() {
  const bool has_failed = teardown_.is_lost() && !stream_.is_ended_by_peer();
  const bool is_orderly = !terms_.agreement.is_own && inbound_.parser().is_at_border() && !has_failed;
  teardown_.end_with(is_orderly ? CloseReason::kBye : CloseReason::kLost, {});
}

// The first FPDU shows that the peer is in full operation (RFC 5044 section 7.1), so the responder may send.
bool MessageReceiver::on_first_sign() {
  if (!base_.owner().is_established()) sender_.release_hold();
  return base_.is_receiving();
}

Placement MessageReceiver::place(const Arrival& arrival, SliceList& out) {
  if (!on_first_sign()) return Placement::kDiscard;
  return base_.owner()->place(arrival, out);
}

void MessageReceiver::on_message(const Message& message) {
  if (message.opcode == Opcode::kTerminate) return teardown_.end_with(CloseReason::kTerminated, message.terminate);
  if (!on_first_sign()) return;
  const bool is_bye = message.opcode == Opcode::kNote && message.note == NoteKind::kBye;
  if (is_bye) return teardown_.end_with(CloseReason::kBye, {});
  base_.owner()->on_message(message);
}

void MessageReceiver::on_ready_to_receive(const Message& message) {
  if (message.opcode == Opcode::kReadRequest) sender_.answer_empty_read(message);
  on_first_sign();
}

}  // namespace softdat::transport::tcp
