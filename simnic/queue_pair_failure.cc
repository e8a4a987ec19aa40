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
using hca::Failure;
using hca::Rule;
using transport::NoteKind;

namespace {

// For how long a send may find no receive before that is worth a word.
constexpr auto kLackWorthTelling = std::chrono::milliseconds(100);

// `outstanding`: of the queue, which is full if the segments are in order.
void explain_local(const MemoryView& memory, std::span<const hca::Segment> local, hca::AccessMask rights,
                   std::uint64_t outstanding, Failure& failure) {
  failure.rule = Rule::kQueueFull;
  failure.room = outstanding;
  if (check_segments(memory, local, rights) != AccessError::kNone) explain_segments(memory, local, rights, failure);
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

// Before the connection is terminated, at a border of messages. Peers on this host are of this user (decision 14); over
// TCP the peer may be a stranger, so there the words are sent only if they are wanted here too.
void QueuePair::tell_peer_why() {
  auto failure = failure_.take_objection(*outgoing_.objection());
  if (!failure) return;
  std::string words = report(std::move(*failure));
  const bool is_trusted = std::string_view(channel_->carrier_name()) != "tcp" || base::are_words_wanted();
  if (!is_trusted || (channel_->features() & transport::kWords) == 0) return;
  words.resize(std::min(words.size(), FailureReport::kMostWords));
  for (std::size_t at = 0; at < words.size(); at += FailureReport::kBytesOfNote) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < FailureReport::kBytesOfNote && at + i < words.size(); ++i) {
      value |= std::uint64_t{static_cast<unsigned char>(words[at + i])} << (8 * i);
    }
    const transport::Message note{.opcode = transport::Opcode::kNote, .note = NoteKind::kWords, .note_value = value};
    if (channel_->send(note, nullptr) != transport::SendResult::kDone) return;
  }
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
  report(std::move(failure));
  if ((channel_->features() & transport::kWords) == 0 || !outgoing_.is_free()) return;
  const transport::Message note{
      .opcode = transport::Opcode::kNote, .note = NoteKind::kLacking, .note_value = kLackWorthTelling.count()};
  if (channel_->send(note, nullptr) == transport::SendResult::kDone) channel_->flush();
}

void QueuePair::note_place(bool is_receive, const void* place) {
  if (is_receive) {
    responder_.queue().note_place(place);
  } else {
    requester_.queue().note_place(place);
  }
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
  explain_local(memory_, request.local, local_rights(request.opcode), sends_outstanding(), failure);
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
  explain_local(memory_, request.local, hca::kLocalWrite, recvs_outstanding(), failure);
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
