// SPDX-License-Identifier: BSD-2-Clause
// How connections begin and end. faulty_channel_out.cc has what is sent, faulty_channel_in.cc what is received.
#include "simnic/fault/faulty_channel.h"

#include <algorithm>
#include <utility>

#include "simnic/fault.h"

namespace softdat::simnic::fault {

using transport::CloseReason;
using transport::Offer;
using transport::TerminateCode;

FaultyChannel::FaultyChannel(FaultyCarrier& carrier, std::uint32_t endpoint, const transport::Address& peer,
                             transport::ChannelSink& sink)
    : carrier_(carrier),
      endpoint_(endpoint),
      peer_(peer),
      sink_(sink),
      begin_alarm_([this] { begin_inner(); }),
      end_alarm_([this] { carry_out_cut(); }) {
  carrier_.channels().insert(this);
}

FaultyChannel::~FaultyChannel() {
  carrier_.channels().erase(this);
}

FaultyQueuePair* FaultyChannel::queue_pair() {
  return carrier_.endpoint(endpoint_).queue_pair;
}

void FaultyChannel::connect(const Offer& request, const ConnectFate& fate) {
  request_ = request;
  fate_ = fate;
  is_connector_ = true;
  if (fate.private_data) {
    request_.private_data.resize(std::min(request_.private_data.size(), *fate.private_data));
  }
  if (fate.is_ignored && !fate.refusal) return;
  if (fate.refusal || fate.delay > base::Duration::zero()) return carrier_.set(begin_alarm_, fate.delay);
  inner_ = carrier_.inner().connect(peer_, request_, *this);
}

// A refused connect hears so here, because no sink may be called within connect().
void FaultyChannel::begin_inner() {
  if (is_over_) return;
  if (fate_.refusal) return on_refused(*fate_.refusal, {});
  inner_ = carrier_.inner().connect(peer_, request_, *this);
}

bool FaultyChannel::accept(transport::InboundRequest& request, const Offer& reply, const ConnectFate& fate) {
  fate_ = fate;
  inner_ = request.accept(reply, *this);
  return inner_ != nullptr;
}

void FaultyChannel::on_established(const Offer& peer) {
  if (is_over_) return;
  EndpointState& state = carrier_.endpoint(endpoint_);
  connection_ = ++state.connections;
  state.fate.reset();
  sink_.on_established(peer);
  if (is_over_) return;
  const base::Time until = carrier_.held_until(peer_);
  if (until > carrier_.now()) hold_until(until);
  if (!fate_.is_dropped) return;
  cut_ = Cut{};
  carrier_.set(end_alarm_, base::Duration::zero());
}

void FaultyChannel::on_refused(transport::Refusal reason, std::span<const std::byte> private_data) {
  if (is_over_) return;
  is_over_ = true;
  sink_.on_refused(reason, private_data);
}

void FaultyChannel::on_closed(CloseReason reason, const TerminateCode& code) {
  if (late_ack_) deliver_late_ack();
  if (is_over_) return;
  is_over_ = true;
  sink_.on_closed(reason, code);
}

void FaultyChannel::check_cut() {
  if (!cut_ || is_over_ || (takes_notes() && acknowledged_ < cut_->after)) return;
  if (!cut_->is_within) return carrier_.set(end_alarm_, base::Duration::zero());
  release();
}

// From a timer, because the sink may be within a call of ours when the last acknowledgement comes.
void FaultyChannel::carry_out_cut() {
  if (std::exchange(is_torn_, false)) {
    const CloseReason reason = end_code_ ? CloseReason::kProtocolError : CloseReason::kLost;
    return sink_.on_closed(reason, end_code_.value_or(TerminateCode{}));
  }
  if (is_over_) return;
  is_over_ = true;
  if (cut_ && cut_->is_protocol_error) {
    if (inner_) inner_->terminate(kUnexpectedOpcode);
    return sink_.on_closed(CloseReason::kProtocolError, kUnexpectedOpcode);
  }
  if (inner_) inner_->cut();
  sink_.on_closed(CloseReason::kLost, {});
}

void FaultyChannel::lose() {
  if (is_over_) return;
  is_over_ = true;
  if (inner_ && connection_ != 0) inner_->cut();
  if (inner_ && connection_ == 0) inner_->close(transport::CloseMode::kAbrupt);
  if (connection_ == 0 && is_connector_) return sink_.on_refused(transport::Refusal::kUnreachable, {});
  sink_.on_closed(CloseReason::kLost, {});
}

void FaultyChannel::terminate(const TerminateCode& code) {
  is_torn_ = false;
  const bool was_over = std::exchange(is_over_, true);
  if (inner_ && !was_over) inner_->terminate(code);
}

void FaultyChannel::close(transport::CloseMode mode) {
  is_torn_ = false;
  const bool was_over = std::exchange(is_over_, true);
  if (inner_ && !was_over) inner_->close(mode);
}

}  // namespace softdat::simnic::fault
