// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/nasty/nasty_sender.h"

namespace softdat::simnic::nasty {
namespace {

// For a program that neither polls nor waits. It may have posted, and not have come to its mistake yet, because the
// processors are busy: hence longer than other holds.
constexpr base::Duration kLongestSource = std::chrono::milliseconds(10);

}  // namespace

transport::SendResult NastySender::send(transport::Channel& inner, const transport::Message& message,
                                        transport::PayloadSource* payload) {
  if (numbers_.is_first_try()) decide(inner, message.opcode);
  // The adapter reads the payload late: a program that changes a buffer before its completion is found out.
  if (is_holding()) return transport::SendResult::kBlocked;
  const transport::SendResult result = inner.send(message, payload);
  if (result == transport::SendResult::kDone) numbers_.take(message.opcode);
  return result;
}

void NastySender::decide(const transport::Channel& inner, transport::Opcode opcode) {
  const std::uint64_t number = numbers_.next();
  const Outbound fate = context_.carrier.decisions().decide_request(context_.where, number + 1);
  if (fate.source_late > 0) begin_hold(fate.source_late, kLongestSource);
  // A read or atomic completes by its answer, and with a foreign peer nothing is acknowledged.
  const bool is_acknowledged = !fault::awaits_answer(opcode) && (inner.features() & transport::kNotes) != 0;
  if (fate.completion_late > 0 && is_acknowledged) acks_.delay(number, fate.completion_late);
}

void NastySender::on_writable() {
  if (!context_.is_over && !is_holding()) context_.sink.on_writable();
}

}  // namespace softdat::simnic::nasty
