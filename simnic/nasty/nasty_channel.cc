// SPDX-License-Identifier: BSD-2-Clause
// How connections begin and end, and what is sent. nasty_channel_in.cc has what is received.
#include "simnic/nasty/nasty_channel.h"

#include <algorithm>
#include <new>
#include <utility>

namespace softdat::simnic::nasty {
namespace {

using transport::Message;
using transport::NoteKind;
using transport::Offer;
using transport::Opcode;
using transport::SendResult;

// For a program that neither polls nor waits. It may have posted, and not have come to its mistake yet, because the
// processors are busy: hence longer than other holds.
constexpr base::Duration kLongestSource = std::chrono::milliseconds(10);

bool is_request(Opcode opcode) {
  return opcode != Opcode::kNote && opcode != Opcode::kReadResponse && opcode != Opcode::kAtomicResponse &&
         opcode != Opcode::kTerminate;
}

}  // namespace

NastyChannel::NastyChannel(NastyCarrier& carrier, std::uint32_t endpoint, transport::ChannelSink& sink)
    : carrier_(carrier), endpoint_(endpoint), sink_(sink) {
  carrier_.add(endpoint_);
}

NastyChannel::~NastyChannel() {
  carrier_.remove(*this);
}

void NastyChannel::connect(const transport::Address& remote, const Offer& request) {
  is_connector_ = true;
  inner_ = carrier_.inner().connect(remote, request, *this);
}

bool NastyChannel::accept(transport::InboundRequest& request, const Offer& reply) {
  inner_ = request.accept(reply, *this);
  return inner_ != nullptr;
}

void NastyChannel::on_established(const Offer& peer) {
  if (is_over_) return;
  where_ = carrier_.count_connection(endpoint_);
  const std::optional<Offer> padded = is_connector_ ? carrier_.pad(peer) : std::nullopt;
  sink_.on_established(padded ? *padded : peer);
}

void NastyChannel::on_refused(transport::Refusal reason, std::span<const std::byte> private_data) {
  if (is_over_) return;
  is_over_ = true;
  sink_.on_refused(reason, private_data);
}

// What came before the end is told before it.
void NastyChannel::on_closed(transport::CloseReason reason, const transport::TerminateCode& code) {
  hand_on_all();
  tell_of_part();
  hand_on_ack();
  if (is_over()) return;
  is_over_ = true;
  sink_.on_closed(reason, code);
}

void NastyChannel::terminate(const transport::TerminateCode& code) {
  const bool was_over = std::exchange(is_over_, true);
  if (inner_ && !was_over) inner_->terminate(code);
}

void NastyChannel::close(transport::CloseMode mode) {
  const bool was_over = std::exchange(is_over_, true);
  if (inner_ && !was_over) inner_->close(mode);
}

void NastyChannel::cut() {
  const bool was_over = std::exchange(is_over_, true);
  if (inner_ && !was_over) inner_->cut();
}

bool NastyChannel::cut_within(const Message& message, transport::PayloadSource* payload) {
  if (is_over_ || !inner_->cut_within(message, payload)) return false;
  is_over_ = true;
  return true;
}

base::Time NastyChannel::next_end() const {
  base::Time end = base::kNever;
  for (const auto& hold : {source_hold_, ack_hold_, arrival_hold_}) {
    if (hold) end = std::min(end, hold->deadline);
  }
  return end;
}

std::size_t NastyChannel::proceed() {
  std::size_t done = 0;
  if (!is_over() && source_hold_ && carrier_.is_over(*source_hold_)) {
    source_hold_.reset();
    ++done;
    sink_.on_writable();
  }
  if (!is_over()) done += proceed_arrivals();
  if (!is_over() && ack_hold_ && carrier_.is_over(*ack_hold_)) {
    ++done;
    hand_on_ack();
  }
  if (!is_over()) return done;
  source_hold_.reset();
  ack_hold_.reset();
  arrival_hold_.reset();
  return done;
}

// A request that is held back looks to the queue pair like one that finds the carrier full: it asks for the bytes when
// the request is tried again.
SendResult NastyChannel::send(const Message& message, transport::PayloadSource* payload) {
  if (is_over_) return SendResult::kClosed;
  if (!is_request(message.opcode)) {
    if (message.opcode == Opcode::kNote && message.note == NoteKind::kResent) next_ = message.note_value;
    return inner_->send(message, payload);
  }
  if (next_ == decided_) decide_request();
  if (source_hold_) return SendResult::kBlocked;
  const SendResult result = inner_->send(message, payload);
  if (result == SendResult::kDone) ++next_;
  return result;
}

void NastyChannel::decide_request() {
  const Outbound fate = carrier_.decisions().decide_request(where_, ++decided_);
  if (fate.source_late > 0) source_hold_ = carrier_.hold(*this, fate.source_late, kLongestSource);
  if (fate.completion_late == 0) return;
  try {
    late_.emplace(next_, fate.completion_late);
  } catch (const std::bad_alloc&) {
    return;  // it completes in time
  }
}

void NastyChannel::flush() {
  if (inner_ && !is_over_) inner_->flush();
}

void NastyChannel::on_writable() {
  if (!is_over_ && !source_hold_) sink_.on_writable();
}

}  // namespace softdat::simnic::nasty
