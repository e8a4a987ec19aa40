// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/failure_report.h"

#include <new>
#include <utility>

#include "base/words.h"

namespace softdat::simnic {

using hca::Actor;
using hca::CompletionStatus;
using hca::ConnectionEventType;
using hca::Failure;
using hca::Rule;
using transport::NoteKind;

namespace {

// The longest explanation that is sent to a peer, or taken from one, in bytes.
constexpr std::size_t kMostWords = 1024;
// Bytes of words in a note.
constexpr std::size_t kBytesOfNote = 7;

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

// A new connection, or a reset: nothing of the last one may be told of this one.
void FailureReport::begin() {
  peer_words_.clear();
  is_told_ = has_lost_completion_ = is_lack_watched_ = false;
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
  const auto& queue = path_.requester().queue();
  // The slot may hold another request by now.
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
  if (const auto noted = path_.responder().failure().take()) return std::move(*noted);
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
  const SendEntry& entry = path_.requester().queue().at(culprit);
  if (blame.blamed_send == CompletionStatus::kLocalProtection) {
    explain_segments(memory_, path_.requester().queue().segments(culprit), local_rights(entry.opcode), failure);
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
  describe_request(path_.requester().queue().completed(), failure);
  failure.status = blame.blamed_send;
  if (failure.rule == Rule::kReceiveTooShort) failure.room = Failure::kUnknownRoom;
  return failure;
}

// The end came from the channel. The responder's note, if there is one, is nearest to the cause.
Failure FailureReport::closed(const End& end) {
  if (end.news == ConnectionEventType::kDisconnected) return flushed();
  if (const auto noted = path_.responder().failure().take()) return std::move(*noted);
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
  const auto& queue = path_.requester().queue();
  if (queue.is_empty()) return failure;
  describe_request(queue.completed(), failure);
  failure.rule = Rule::kFlushed;
  failure.status = CompletionStatus::kFlushed;
  failure.length = queue.outstanding();
  return failure;
}

Failure FailureReport::refused(const End& end) const {
  Failure failure;
  failure.rule = hca::rule_of(end.news);
  if (failure.rule == Rule::kNobodyListens && is_service_busy_) failure.rule = Rule::kServiceBusy;
  if (end.event == QueuePairEvent::kExpire) failure.room = microseconds_of(timeout_);
  return failure;
}

// Rule::kDisconnected: there is nothing to tell.
Failure FailureReport::ended(const End& end) {
  switch (end.event) {
    case QueuePairEvent::kRefuse:
    case QueuePairEvent::kExpire:
      return refused(end);
    case QueuePairEvent::kFail:
      return own(end.blame, end.culprit.value_or(path_.requester().queue().completed()));
    case QueuePairEvent::kClose:
      return closed(end);
    case QueuePairEvent::kCut:
      return flushed();
    default: {
      Failure failure;
      failure.rule = Rule::kDisconnected;
      return failure;
    }
  }
}

// Returns the text for the peer.
std::string FailureReport::report(Failure failure) try {
  if (sink_ == nullptr) return {};
  // With the baton held: the sink only writes down and formats, and must not call the device (docs/THREADS.md,
  // "Sinks").
  if (const auto* const channel = path_.channel()) failure.carrier = channel->carrier_name();
  failure.remote = peer_;
  failure.service_id = service_id_;
  return sink_->on_failure(failure);
} catch (const std::bad_alloc&) {
  return {};
}

void FailureReport::send_words(std::string_view words) {
  words = words.substr(0, kMostWords);
  for (std::size_t at = 0; at < words.size(); at += kBytesOfNote) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < kBytesOfNote && at + i < words.size(); ++i) {
      value |= std::uint64_t{static_cast<unsigned char>(words[at + i])} << (8 * i);
    }
    const transport::Message note{.opcode = transport::Opcode::kNote, .note = NoteKind::kWords, .note_value = value};
    // A full channel cuts the sentence: words must never hold up the Terminate behind them.
    if (path_.channel()->send(note, nullptr) != transport::SendResult::kDone) return;
  }
}

void FailureReport::tell_end(const End& end) {
  if (std::exchange(is_told_, true)) return;
  Failure failure = ended(end);
  if (failure.rule != Rule::kDisconnected) report(std::move(failure));
}

// Peers on this host are of this user (decision 14); over TCP the peer may be a stranger, so there the words are sent
// only if they are wanted here too.
// Before the Terminate, so that the peer has the words when it sees the end.
void FailureReport::tell_objection() {
  if (std::exchange(is_told_, true)) return;
  const std::string words = report(own(*path_.outgoing().objection(), path_.requester().queue().completed()));
  const transport::Channel& channel = *path_.channel();
  const bool is_trusted = std::string_view(channel.carrier_name()) != "tcp" || base::are_words_wanted();
  if (is_trusted && (channel.features() & transport::kWords) != 0) send_words(words);
}

void FailureReport::tell_lack_at_peer(std::uint64_t milliseconds) {
  Failure failure;
  describe_request(path_.requester().queue().completed(), failure);
  failure.rule = Rule::kReceiveLacking;
  failure.room = milliseconds;
  report(std::move(failure));
}

bool FailureReport::watch_for_receive() {
  return base::are_words_wanted() && !std::exchange(is_lack_watched_, true);
}

// A message of the peer has waited for a receive for long: say so on both sides, once.
void FailureReport::tell_lack(bool is_shared) {
  const Responder& responder = path_.responder();
  if (!std::exchange(is_lack_watched_, false) || !responder.is_waiting_for_receive()) return;
  if (responder.wanted_again()) return;
  Failure failure;
  failure.actor = Actor::kPeersRequest;
  failure.rule = Rule::kReceiveLacking;
  failure.room = kLackWorthTelling.count();
  failure.is_shared = is_shared;
  report(std::move(failure));
  transport::Channel& channel = *path_.channel();
  if ((channel.features() & transport::kWords) == 0 || !path_.outgoing().is_free()) return;
  const transport::Message note{
      .opcode = transport::Opcode::kNote, .note = NoteKind::kLacking, .note_value = kLackWorthTelling.count()};
  if (channel.send(note, nullptr) == transport::SendResult::kDone) channel.flush();
}

}  // namespace softdat::simnic
