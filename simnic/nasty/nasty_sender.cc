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
  if (next_ == decided_) decide();
  // The adapter reads the payload late: a program that changes a buffer before its completion is found out.
  if (is_holding()) return transport::SendResult::kBlocked;
  const transport::SendResult result = inner.send(message, payload);
  if (result == transport::SendResult::kDone) ++next_;
  return result;
}

void NastySender::decide() {
  const Outbound fate = context_.carrier.decisions().decide_request(context_.where, ++decided_);
  if (fate.source_late > 0) begin_hold(fate.source_late, kLongestSource);
  if (fate.completion_late > 0) acks_.delay(next_, fate.completion_late);
}

void NastySender::on_writable() {
  if (!context_.is_over && !is_holding()) context_.sink.on_writable();
}

}  // namespace softdat::simnic::nasty
