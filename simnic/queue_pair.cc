// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/queue_pair.h"

#include <mutex>

#include "simnic/engine.h"
#include "simnic/memory_region.h"
#include "simnic/memory_window.h"
#include "simnic/queue_pair_limits.h"

namespace softdat::simnic {

using hca::Actor;
using hca::Failure;
using hca::QueuePairState;
using hca::Rule;

namespace {

// `outstanding`: of the queue, which is full if the segments are in order.
void explain_local(const MemoryView& memory, std::span<const hca::Segment> local, hca::AccessMask rights,
                   std::uint64_t outstanding, Failure& failure) {
  failure.rule = Rule::kQueueFull;
  failure.room = outstanding;
  if (check_segments(memory, local, rights) != AccessError::kNone) explain_segments(memory, local, rights, failure);
}

}  // namespace

QueuePair::QueuePair(const NicView& nic, const hca::QueuePairConfig& config)
    : nic_(nic),
      limits_(grant(config)),
      memory_{nic.memory, {static_cast<const ProtectionDomain*>(config.pd)->id(), nic.stream}},
      sends_(nic.direct_context, memory_, limits_, state_, counters_),
      recvs_(memory_, limits_.recv_sge, static_cast<SharedReceiveQueue*>(config.srq), sends_.direct(), state_,
             counters_),
      connection_({nic_, limits_, memory_, state_, counters_, sends_, recvs_}, config) {}

// Without a lock, after a post that has not gone as a message.
inline void QueuePair::finish_post(SendPosts::Posted posted) {
  if (posted == SendPosts::Posted::kDone) {
    // The request is over. Its completion may have been lost, or may have left an upcall.
    if (connection_.path().requester().completions().feed().has_lost()) nic_.engine.ring(connection_);
    return nic_.engine.have_news_told();
  }
  nic_.engine.ring(connection_);
  // The poster has copied for long (256 KiB): take in what has come, or the peer's answers would wake the engine
  // thread.
  if (posted == SendPosts::Posted::kQueuedLate) nic_.engine.catch_up();
}

hca::Outcome QueuePair::post_send(const hca::SendRequest& request) {
  const auto posted = sends_.post(request, connection_.path());
  if (!posted) return hca::fail(posted.reason());
  nic_.engine.note_post();
  if (posted.value() != SendPosts::Posted::kSent) finish_post(posted.value());
  return hca::Done{};
}

hca::Result<std::uint32_t> QueuePair::post_bind(const hca::BindRequest& request) {
  const auto key = sends_.bind(request, connection_.path().requester());
  if (key) nic_.engine.ring(connection_);
  return key;
}

hca::Outcome QueuePair::post_recv(const hca::RecvRequest& request) {
  const auto posted = recvs_.post(request, connection_.path().responder().queue());
  if (!posted) return hca::fail(posted.reason());
  if (posted.value() == ReceivePosted::kMustRing) [[unlikely]]
    nic_.engine.ring(connection_);
  return hca::Done{};
}

hca::Outcome QueuePair::disconnect(bool graceful) {
  const hca::Outcome outcome = connection_.disconnect(graceful);
  // Wait, without the baton, until no copy of a peer into this queue pair's memory is under way.
  if (state() == QueuePairState::kError) sends_.direct().settle();
  return outcome;
}

// With the other's posting lock held no poster is between its look at is_retired() and its push. inherit() requires the
// posting lock of this queue, too, though no other thread knows this queue pair yet.
hca::Outcome QueuePair::inherit_recvs(hca::QueuePair& from) {
  auto* const same_kind = dynamic_cast<QueuePair*>(&from);
  if (same_kind == nullptr) return from.retire();
  QueuePair& other = *same_kind;
  const Engine::Hold hold(nic_.engine);
  const std::scoped_lock lock(recvs_.mutex(), other.recvs_.mutex());
  const bool are_idle = state() == QueuePairState::kIdle && other.state() == QueuePairState::kIdle;
  if (!are_idle || recvs_.is_retired() || other.recvs_.is_retired()) return hca::fail(hca::Error::kInvalidState);
  auto& queue = connection_.path().responder().queue();
  if (!inherit(other.connection_.path().responder().queue(), queue)) return hca::fail(hca::Error::kLimitReached);
  other.recvs_.retire();
  return hca::Done{};
}

hca::Outcome QueuePair::retire() {
  const Engine::Hold hold(nic_.engine);
  const std::lock_guard lock(recvs_.mutex());
  const bool is_in_use = state() != QueuePairState::kIdle || recvs_.is_retired() || recvs_outstanding() > 0;
  if (is_in_use) return hca::fail(hca::Error::kInvalidState);
  recvs_.retire();
  return hca::Done{};
}

// Any thread, without a lock: each number is right, and they need not be of one moment.
hca::QueuePairCounts QueuePair::counts() const {
  const MessagePath& path = connection_.path();
  hca::QueuePairCounts result = counters_.read_rare();
  result.send_capacity = path.requester().queue().capacity();
  result.recv_capacity = path.responder().queue().capacity();
  result.send_high_water = path.requester().queue().high_water();
  result.recv_high_water = path.responder().queue().high_water();
  return result;
}

void QueuePair::note_place(bool is_receive, const void* place) {
  if (is_receive) {
    connection_.path().responder().queue().note_place(place);
  } else {
    connection_.path().requester().queue().note_place(place);
  }
}

// After a refused post, to find the words: checks in the order in which post_send() does.
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
