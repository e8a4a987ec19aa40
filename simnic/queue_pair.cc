// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/queue_pair.h"

#include <new>
#include <utility>

#include "simnic/engine.h"
#include "simnic/lock_places.h"
#include "simnic/memory_region.h"
#include "simnic/queue_pair_limits.h"

namespace softdat::simnic {
namespace {

using hca::QueuePairState;

constexpr std::size_t kOfReceives = 1;  // a place for the news that there are too many

}  // namespace

QueuePair::QueuePair(const NicView& nic, const hca::QueuePairConfig& config)
    : nic_(nic),
      limits_(grant(config)),
      sink_(config.sink),
      shared_(static_cast<SharedReceiveQueue*>(config.srq)),
      memory_{nic.memory, {static_cast<const ProtectionDomain*>(config.pd)->id(), nic.stream}},
      direct_(nic.home, memory_),
      requester_(memory_, send_feed_of(config), limits_.send_wr, limits_.send_sge, counters_),
      responder_(memory_, recv_feed_of(config), limits_, {.shared = shared_, .starving = this}, counters_),
      outgoing_(requester_, responder_),
      news_(nic.engine.upcalls(), this, sink_, direct_),
      failure_(memory_, requester_, responder_) {
  nic_.engine.upcalls().reserve(kOfReceives);
  if (shared_ == nullptr) return;
  const Engine::Hold hold(nic_.engine);
  try {
    shared_->join();
  } catch (const std::bad_alloc&) {
    nic_.engine.upcalls().release(kOfReceives);
    throw;
  }
}

QueuePair::~QueuePair() {
  leave_engine();
}

void QueuePair::leave_engine() {
  if (std::exchange(has_left_, true)) return;
  {
    const Engine::Hold hold(nic_.engine);
    const Entry entry(*this);
    cancel_timer();
    leave_peer();
    abandon_channel(farewell_of(QueuePairEvent::kCut));
    requester_.completions().discard();
    responder_.receives().discard();
    if (shared_ != nullptr) shared_->leave(*this);
    nic_.engine.forget(*this);
  }
  nic_.engine.upcalls().forget(this);
  nic_.engine.upcalls().release(kOfReceives);
  news_.release();
}

// Rung by a post, or due by the end of a turn.
void QueuePair::run_with_baton() {
  base::require_lock(locks::kBaton);
  const Entry entry(*this);
  if (is_plain_ && !requester_.is_waiting() && !responder_.is_waiting() && !responder_.receives().feed().has_lost())
    return;
  if (!takes_short_sends_) nic_.engine.stay();
  obeys_recv_limits();
  if (is_open()) {
    pump();
    settle();
  } else if (state() == QueuePairState::kError) {
    requester_.sent().flush(hca::CompletionStatus::kFlushed);
    responder_.receives().flush(hca::CompletionStatus::kFlushed);
  }
}

hca::QueuePairCounts QueuePair::counts() const {
  hca::QueuePairCounts result = counters_.read_rare();
  result.send_capacity = requester_.queue().capacity();
  result.recv_capacity = responder_.queue().capacity();
  result.send_high_water = requester_.queue().high_water();
  result.recv_high_water = responder_.queue().high_water();
  return result;
}

hca::Outcome QueuePair::reset() {
  const Engine::Hold hold(nic_.engine);
  if (is_retired_ || !next_state(state(), QueuePairEvent::kReset)) return hca::fail(hca::Error::kInvalidState);
  const Entry entry(*this);
  // With both posting locks held no poster is between its look at the state and its push.
  const std::scoped_lock lock(send_mutex_, recv_mutex_);
  requester_.sent().flush(hca::CompletionStatus::kFlushed);
  responder_.receives().flush(hca::CompletionStatus::kFlushed);
  advance(QueuePairEvent::kReset);
  failure_.begin();
  return hca::Done{};
}

// With the other's posting lock held no poster is between its look at is_retired_ and its push. inherit()
// requires our own lock too, though no other thread knows this queue pair yet.
hca::Outcome QueuePair::inherit_recvs(hca::QueuePair& from) {
  auto& other = static_cast<QueuePair&>(from);
  const Engine::Hold hold(nic_.engine);
  const std::scoped_lock lock(recv_mutex_, other.recv_mutex_);
  const bool are_idle = state() == QueuePairState::kIdle && other.state() == QueuePairState::kIdle;
  if (!are_idle || is_retired_ || other.is_retired_) return hca::fail(hca::Error::kInvalidState);
  if (!inherit(other.responder_.queue(), responder_.queue())) return hca::fail(hca::Error::kLimitReached);
  other.is_retired_ = true;
  return hca::Done{};
}

hca::Address QueuePair::remote_address() const {
  return *remote_.lock();
}

}  // namespace softdat::simnic
