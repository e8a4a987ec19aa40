// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/fault/connection_end.h"

#include "simnic/fault.h"

namespace softdat::simnic::fault {

using transport::CloseReason;

bool ConnectionEnd::end_by_owner() {
  // The owner ended the connection itself and must hear no more of it.
  untold_.reset();
  return end();
}

void ConnectionEnd::end_told_later(const std::optional<transport::TerminateCode>& sent) {
  is_over_ = true;
  untold_ = {.reason = sent ? CloseReason::kProtocolError : CloseReason::kLost,
             .code = sent.value_or(transport::TerminateCode{})};
  carry_out_soon();
}

void ConnectionEnd::carry_out_soon() {
  // By a timer, because the caller may be within a call of the sink or of the channel.
  connection_.carrier().set(alarm_, base::Duration::zero());
}

// The sink may destroy this.
void ConnectionEnd::on_alarm() {
  if (const auto report = std::exchange(untold_, std::nullopt)) {
    return connection_.sink().on_closed(report->reason, report->code);
  }
  if (!end()) return;
  transport::Channel* const inner = connection_.inner();
  if (cut_ && cut_->is_protocol_error) {
    if (inner != nullptr) inner->terminate(kUnexpectedOpcode);
    return connection_.sink().on_closed(CloseReason::kProtocolError, kUnexpectedOpcode);
  }
  if (inner != nullptr) inner->cut();
  connection_.sink().on_closed(CloseReason::kLost, {});
}

}  // namespace softdat::simnic::fault
