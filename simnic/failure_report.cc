// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/failure_report.h"

#include <chrono>
#include <new>
#include <utility>

namespace softdat::simnic {

using hca::Actor;
using hca::CompletionStatus;
using hca::ConnectionEventType;
using hca::Failure;
using hca::Rule;

namespace {

std::uint64_t microseconds_of(base::Duration time) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(time).count());
}

hca::AccessMask remote_right(hca::CompletionOpcode operation) {
  if (operation == hca::CompletionOpcode::kRead) return hca::kRemoteRead;
  const bool is_atomic =
      operation == hca::CompletionOpcode::kFetchAdd || operation == hca::CompletionOpcode::kCompareSwap;
  return is_atomic ? hca::kRemoteAtomic : hca::kRemoteWrite;
}

// Returns the rule that the code stands for, or kUnknown.
Rule rule_of(const transport::TerminateCode& code) {
  for (const AccessError fault : {AccessError::kBadKey, AccessError::kWrongDomain, AccessError::kWraps,
                                  AccessError::kOutOfRange, AccessError::kMissingRight}) {
    if (code != write_refusal(fault) && code != read_refusal(fault)) continue;
    return fault == AccessError::kBadKey ? Rule::kKeyUnknown : simnic::rule_of(fault);
  }
  if (code == kNoBuffer) return Rule::kNoReceive;
  if (code == kMessageTooLong) return Rule::kReceiveTooShort;
  if (code == kBadAtomic) return Rule::kMisaligned;
  return code == kCannotInvalidate ? Rule::kNoWindow : Rule::kUnknown;
}

}  // namespace

void FailureReport::begin() {
  peer_words_.clear();
  is_told_ = has_lost_completion_ = false;
}

// Anything may stand there: only what can be printed is kept.
void FailureReport::note_words(std::uint64_t bytes) try {
  for (std::size_t i = 0; i < kBytesOfNote; ++i, bytes >>= 8) {
    const auto letter = static_cast<char>(bytes & 0xff);
    if (letter >= ' ' && letter <= '~' && peer_words_.size() < kMostWords) peer_words_ += letter;
  }
} catch (const std::bad_alloc&) {
}

void FailureReport::describe_request(std::uint64_t number, Failure& failure) const {
  const auto& queue = requester_.queue();
  if (number < queue.completed() || number >= queue.posted()) return;
  const SendEntry& entry = queue.at(number);
  failure.actor = Actor::kOurRequest;
  failure.operation = hca::completion_opcode(entry.opcode);
  failure.wr_id = entry.wr_id;
  failure.posted = queue.place(number);
  failure.key = entry.rkey;
  failure.address = entry.remote_address;
  failure.length = entry.length;
  failure.needed = remote_right(failure.operation);
}

// Something on this side ended the connection: a request of the peer's, of our own, or want of room.
Failure FailureReport::own(const Fault& blame, std::uint64_t culprit) const {
  if (const auto noted = responder_.failure().take()) return std::move(*noted);
  Failure failure;
  if (has_lost_completion_) {
    failure.rule = Rule::kCompletionsLost;
    return failure;
  }
  if (blame.is_protocol_breach) failure.rule = Rule::kProtocol;
  const bool is_nobodys = blame.blamed_send == CompletionStatus::kFlushed && !blame.is_protocol_breach;
  if (is_nobodys && blame.code == kLocalCatastrophe) failure.rule = Rule::kReceiveLimit;
  if (blame.blamed_send == CompletionStatus::kFlushed) return failure;
  describe_request(culprit, failure);
  failure.status = blame.blamed_send;
  if (failure.actor != Actor::kOurRequest) return failure;
  const SendEntry& entry = requester_.queue().at(culprit);
  if (blame.blamed_send == CompletionStatus::kLocalProtection) {
    explain_segments(memory_, requester_.queue().segments(culprit), local_rights(entry.opcode), failure);
  } else {
    failure.rule = blame.blamed_send == CompletionStatus::kBindFailed ? Rule::kKeyFreed : Rule::kCannot;
  }
  return failure;
}

// The peer has terminated the connection. Its words, if it has said any, tell why better than the code.
Failure FailureReport::refused_by_peer(const Fault& blame) {
  Failure failure;
  failure.rule = rule_of(blame.code);
  failure.peer_words = std::move(peer_words_);
  if (blame.blamed_send == CompletionStatus::kFlushed) return failure;
  describe_request(requester_.queue().completed(), failure);
  failure.status = blame.blamed_send;
  if (failure.rule == Rule::kReceiveTooShort) failure.room = Failure::kUnknownRoom;
  return failure;
}

Failure FailureReport::closed(const ConnectionEnd& end) {
  if (end.news == ConnectionEventType::kDisconnected) return flushed();
  if (const auto noted = responder_.failure().take()) return std::move(*noted);
  if (end.news == ConnectionEventType::kAcceptFailed) {
    Failure failure;
    failure.rule = Rule::kAcceptFailed;
    return failure;
  }
  if (is_terminated_by_peer_) return refused_by_peer(end.blame);
  Failure failure = flushed();
  failure.rule = end.blame.is_protocol_breach ? Rule::kProtocol : Rule::kPeerLost;
  failure.actor = Actor::kConnection;
  return failure;
}

// Rule::kDisconnected: no request was outstanding, so there is nothing to tell.
Failure FailureReport::flushed() const {
  Failure failure;
  failure.rule = Rule::kDisconnected;
  const auto& queue = requester_.queue();
  if (queue.is_empty()) return failure;
  describe_request(queue.completed(), failure);
  failure.rule = Rule::kFlushed;
  failure.status = CompletionStatus::kFlushed;
  failure.length = queue.outstanding();
  return failure;
}

Failure FailureReport::refused(const ConnectionEnd& end) const {
  Failure failure;
  failure.rule = hca::rule_of(end.news);
  if (failure.rule == Rule::kNobodyListens && is_service_busy_) failure.rule = Rule::kServiceBusy;
  if (end.event == QueuePairEvent::kExpire) failure.room = microseconds_of(end.timeout);
  return failure;
}

std::optional<Failure> FailureReport::take_end(const ConnectionEnd& end) {
  if (std::exchange(is_told_, true)) return std::nullopt;
  switch (end.event) {
    case QueuePairEvent::kRefuse:
    case QueuePairEvent::kExpire:
      return refused(end);
    case QueuePairEvent::kFail:
      return own(end.blame, end.culprit.value_or(requester_.queue().completed()));
    case QueuePairEvent::kClose:
    case QueuePairEvent::kCut: {
      Failure failure = end.event == QueuePairEvent::kCut ? flushed() : closed(end);
      if (failure.rule == Rule::kDisconnected) return std::nullopt;
      return failure;
    }
    default:
      return std::nullopt;
  }
}

std::optional<Failure> FailureReport::take_objection(const Fault& objection) {
  if (std::exchange(is_told_, true)) return std::nullopt;
  return own(objection, requester_.queue().completed());
}

Failure FailureReport::lacks_at_peer(std::uint64_t milliseconds) const {
  Failure failure;
  describe_request(requester_.queue().completed(), failure);
  failure.rule = Rule::kReceiveLacking;
  failure.room = milliseconds;
  return failure;
}

}  // namespace softdat::simnic
