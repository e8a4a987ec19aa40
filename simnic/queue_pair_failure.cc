// SPDX-License-Identifier: BSD-2-Clause
// What people are told of a connection or request that fails: the facts are gathered here, the words are the sink's.
// Nothing of this runs while nothing fails. docs/decisions/0020-words-instead-of-codes.md.
#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "base/words.h"
#include "simnic/engine.h"
#include "simnic/memory_window.h"
#include "simnic/queue_pair.h"

namespace softdat::simnic {

using hca::Actor;
using hca::CompletionStatus;
using hca::ConnectionEventType;
using hca::Failure;
using hca::Rule;
using transport::NoteKind;

namespace {

// For how long a send may find no receive before that is worth a word.
constexpr auto kLackWorthTelling = std::chrono::milliseconds(100);

constexpr std::size_t kBytesOfNote = 7;
// What a peer may say, and what we say.
constexpr std::size_t kMostWords = 1024;

std::uint64_t microseconds_of(base::Duration time) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(time).count());
}

hca::AccessMask remote_right(hca::CompletionOpcode operation) {
  if (operation == hca::CompletionOpcode::kRead) return hca::kRemoteRead;
  const bool is_atomic =
      operation == hca::CompletionOpcode::kFetchAdd || operation == hca::CompletionOpcode::kCompareSwap;
  return is_atomic ? hca::kRemoteAtomic : hca::kRemoteWrite;
}

// As far as the code tells.
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

std::string QueuePair::report(Failure failure) try {
  if (sink_ == nullptr) return {};
  if (channel_) failure.carrier = channel_->carrier_name();
  failure.remote = remote_address();
  failure.service_id = service_asked_;
  return sink_->on_failure(failure);
} catch (const std::bad_alloc&) {
  return {};
}

void QueuePair::describe_request(std::uint64_t number, Failure& failure) const {
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
Failure QueuePair::own_failure(const Fault& blame, std::uint64_t culprit) {
  if (const auto noted = responder_.take_failure()) return std::move(*noted);
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
Failure QueuePair::peers_refusal(const Fault& blame) {
  Failure failure;
  failure.rule = rule_of(blame.code);
  failure.peer_words = std::move(peer_words_);
  if (blame.blamed_send == CompletionStatus::kFlushed) return failure;
  describe_request(requester_.queue().completed(), failure);
  failure.status = blame.blamed_send;
  if (failure.rule == Rule::kReceiveTooShort) failure.room = Failure::kUnknownRoom;
  return failure;
}

Failure QueuePair::closed_failure(const Fault& blame, ConnectionEventType news) {
  if (news == ConnectionEventType::kDisconnected) return flushed_failure();
  if (const auto noted = responder_.take_failure()) return std::move(*noted);
  if (news == ConnectionEventType::kAcceptFailed) {
    Failure failure;
    failure.rule = Rule::kAcceptFailed;
    return failure;
  }
  if (is_terminated_by_peer_) return peers_refusal(blame);
  Failure failure = flushed_failure();
  failure.rule = blame.is_protocol_breach ? Rule::kProtocol : Rule::kPeerLost;
  failure.actor = Actor::kConnection;
  return failure;
}

// kSuccess of a rule that says nothing: nothing was under way, so there is nothing to tell.
Failure QueuePair::flushed_failure() const {
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

void QueuePair::report_end(QueuePairEvent event, const Fault& blame, ConnectionEventType news,
                           std::optional<std::uint64_t> culprit) {
  if (std::exchange(is_failure_told_, true)) return;
  Failure failure;
  switch (event) {
    case QueuePairEvent::kRefuse:
    case QueuePairEvent::kExpire:
      failure.rule = rule_of(news);
      if (failure.rule == Rule::kNobodyListens && is_service_busy_) failure.rule = Rule::kServiceBusy;
      if (event == QueuePairEvent::kExpire) failure.room = microseconds_of(asked_timeout_);
      break;
    case QueuePairEvent::kClose:
      failure = closed_failure(blame, news);
      break;
    case QueuePairEvent::kFail:
      failure = own_failure(blame, culprit.value_or(requester_.queue().completed()));
      break;
    case QueuePairEvent::kCut:
      failure = flushed_failure();
      break;
    default:
      return;
  }
  if (failure.rule != Rule::kDisconnected) static_cast<void>(report(std::move(failure)));
}

// Before the connection is terminated, at a border of messages. Peers on this host are of this user (decision 14); over
// TCP the peer may be a stranger, so there the words are sent only if they are wanted here too.
void QueuePair::tell_peer_why() {
  if (std::exchange(is_failure_told_, true)) return;
  std::string words = report(own_failure(*objection_, requester_.queue().completed()));
  const bool is_trusted = std::string_view(channel_->carrier_name()) != "tcp" || base::are_words_wanted();
  if (!is_trusted || (channel_->features() & transport::kWords) == 0) return;
  words.resize(std::min(words.size(), kMostWords));
  for (std::size_t at = 0; at < words.size(); at += kBytesOfNote) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < kBytesOfNote && at + i < words.size(); ++i) {
      value |= std::uint64_t{static_cast<unsigned char>(words[at + i])} << (8 * i);
    }
    const transport::Message note{.opcode = transport::Opcode::kNote, .note = NoteKind::kWords, .note_value = value};
    if (channel_->send(note, nullptr) != transport::SendResult::kDone) return;
  }
}

// Anything may stand there: only what can be printed is kept.
void QueuePair::on_words(std::uint64_t bytes) try {
  for (std::size_t i = 0; i < kBytesOfNote; ++i, bytes >>= 8) {
    const auto letter = static_cast<char>(bytes & 0xff);
    if (letter >= ' ' && letter <= '~' && peer_words_.size() < kMostWords) peer_words_ += letter;
  }
} catch (const std::bad_alloc&) {
}

// A send of the peer's has found no receive. The timer is free: it serves connecting.
void QueuePair::watch_for_receive() {
  if (is_lack_told_ || !base::are_words_wanted()) return;
  is_lack_told_ = true;
  nic_.engine.timers().set(*this, base::deadline_after(nic_.engine.now(), kLackWorthTelling));
}

void QueuePair::on_receive_lacking() {
  if (!std::exchange(is_lack_told_, false) || !responder_.is_waiting_for_receive()) return;
  if (responder_.wanted_again()) return;
  Failure failure;
  failure.actor = Actor::kPeersRequest;
  failure.rule = Rule::kReceiveLacking;
  failure.room = kLackWorthTelling.count();
  failure.is_shared = shared_ != nullptr;
  static_cast<void>(report(std::move(failure)));
  if ((channel_->features() & transport::kWords) == 0 || outgoing_ != Outgoing::kNothing || is_blocked_) return;
  const transport::Message note{
      .opcode = transport::Opcode::kNote, .note = NoteKind::kLacking, .note_value = kLackWorthTelling.count()};
  if (channel_->send(note, nullptr) == transport::SendResult::kDone) channel_->flush();
}

void QueuePair::on_peer_lacking(std::uint64_t milliseconds) {
  Failure failure;
  describe_request(requester_.queue().completed(), failure);
  failure.rule = Rule::kReceiveLacking;
  failure.room = milliseconds;
  static_cast<void>(report(std::move(failure)));
}

void QueuePair::note_place(bool is_receive, const void* place) {
  if (is_receive) {
    responder_.queue().note_place(place);
  } else {
    requester_.queue().note_place(place);
  }
}

// `outstanding`: of the queue, which is full if the segments are in order.
void QueuePair::explain_local(std::span<const hca::Segment> local, hca::AccessMask rights, std::uint64_t outstanding,
                              Failure& failure) const {
  failure.rule = Rule::kQueueFull;
  failure.room = outstanding;
  if (check_segments(memory_, local, rights) != AccessError::kNone) explain_segments(memory_, local, rights, failure);
}

Failure QueuePair::explain(const hca::SendRequest& request) const {
  Failure failure;
  failure.actor = Actor::kOurRequest;
  failure.operation = hca::completion_opcode(request.opcode);
  failure.length = request.local.size();
  failure.room = limits_.send_sge;
  failure.rule = Rule::kTooManySegments;
  if (request.local.size() > limits_.send_sge) return failure;
  failure.rule = Rule::kNoReads;
  if (hca::awaits_response(request.opcode) && limits_.ord == 0) return failure;
  explain_local(request.local, local_rights(request.opcode), sends_outstanding(), failure);
  return failure;
}

Failure QueuePair::explain(const hca::RecvRequest& request) const {
  Failure failure;
  failure.actor = Actor::kOurReceive;
  failure.operation = hca::CompletionOpcode::kRecv;
  failure.length = request.local.size();
  failure.room = limits_.recv_sge;
  failure.rule = Rule::kTooManySegments;
  if (request.local.size() > limits_.recv_sge) return failure;
  explain_local(request.local, hca::kLocalWrite, recvs_outstanding(), failure);
  return failure;
}

Failure QueuePair::explain(const hca::BindRequest& request) const {
  Failure failure;
  failure.actor = Actor::kOurRequest;
  failure.operation = hca::CompletionOpcode::kBind;
  const hca::AccessMask rights = MemoryTable::bind_rights(request.access);
  failure.rule = Rule::kQueueFull;
  failure.room = sends_outstanding();
  const std::uint32_t domain = static_cast<MemoryWindow*>(request.window)->state().domain();
  if (memory_.table.check(request.lkey, request.address, request.length, rights, {domain}) != AccessError::kNone) {
    memory_.table.explain(request.lkey, request.address, request.length, rights, {domain}, failure);
    failure.is_local = true;
  }
  return failure;
}

}  // namespace softdat::simnic
