// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/shared_receive_queue.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/assert.h"
#include "simnic/engine.h"
#include "simnic/lock_places.h"
#include "simnic/memory_region.h"
#include "simnic/receive_request.h"

namespace softdat::simnic {

SharedReceiveQueue::SharedReceiveQueue(Engine& engine, MemoryTable& memory, std::uint32_t max_capacity,
                                       hca::ReceiveAccounts& accounts, hca::ReceiveAccounts::Number account,
                                       const hca::SharedReceiveQueueConfig& config)
    : engine_(engine),
      memory_{memory, {static_cast<const ProtectionDomain*>(config.pd)->id()}},
      max_capacity_(max_capacity),
      max_segments_(config.max_sge),
      accounts_(accounts),
      account_(account),
      sink_(config.sink),
      queue_(std::make_unique<WorkQueue<RecvEntry>>(config.capacity, config.max_sge)),
      capacity_(config.capacity) {
  engine_.upcalls().reserve(1);
}

// Receives that are left are no longer charged to the account.
SharedReceiveQueue::~SharedReceiveQueue() {
  {
    const Engine::Hold hold(engine_);
    base::check(users_ == 0, "a shared receive queue outlives its queue pairs");
    for (; !queue_->is_empty(); queue_->drop_oldest()) accounts_.settle(account_);
    engine_.forget(*this);
  }
  engine_.upcalls().forget(this);
  engine_.upcalls().release(1);
  accounts_.close(account_);
}

std::uint32_t SharedReceiveQueue::capacity() const {
  const std::lock_guard lock(post_mutex_);
  return capacity_;
}

hca::Outcome SharedReceiveQueue::post_recv(const hca::RecvRequest& request) {
  bool must_ring = false;
  {
    const std::lock_guard lock(post_mutex_);
    ResolvedSegment found;
    const hca::Outcome outcome = check_receive(memory_, regions_, request, max_segments_, found);
    if (!outcome) return outcome;
    // DAT counts a receive as outstanding until its completion has been dequeued, so room depends on the account and
    // not on the ring.
    const std::uint32_t owed = accounts_.owed(account_);
    if (owed >= capacity_) return hca::fail(hca::Error::kLimitReached);
    high_water_ = std::max(high_water_, owed + 1);
    accounts_.charge(account_);
    queue_->note_caller();
    push_receive(request, found, *queue_);
    must_ring = is_starved_;
  }
  if (must_ring) engine_.ring(*this);
  return hca::Done{};
}

hca::Failure SharedReceiveQueue::explain(const hca::RecvRequest& request) const {
  hca::Failure failure;
  failure.actor = hca::Actor::kOurReceive;
  failure.operation = hca::CompletionOpcode::kRecv;
  failure.is_shared = true;
  failure.length = request.local.size();
  failure.room = max_segments_;
  failure.rule = hca::Rule::kTooManySegments;
  if (request.local.size() > max_segments_) return failure;
  failure.rule = hca::Rule::kQueueFull;
  failure.room = capacity();
  const bool is_refused = check_segments(memory_, request.local, hca::kLocalWrite) != AccessError::kNone;
  if (is_refused) explain_segments(memory_, request.local, hca::kLocalWrite, failure);
  return failure;
}

// The baton keeps receives from being taken, and the lock keeps them from being posted. Completions that are polled
// meanwhile only make room.
hca::Outcome SharedReceiveQueue::resize(std::uint32_t capacity) {
  if (!has_resize_ && capacity > this->capacity()) return hca::fail(hca::Error::kUnsupported);
  if (capacity > max_capacity_) return hca::fail(hca::Error::kLimitReached);
  try {
    auto bigger = std::make_unique<WorkQueue<RecvEntry>>(capacity, max_segments_);
    const Engine::Hold hold(engine_);
    const std::lock_guard lock(post_mutex_);
    if (accounts_.owed(account_) > capacity) return hca::fail(hca::Error::kInvalidState);
    while (!queue_->is_empty()) move_oldest(*queue_, *bigger);
    queue_.swap(bigger);
    capacity_ = capacity;
    return hca::Done{};
  } catch (const std::bad_alloc&) {
    return hca::fail(hca::Error::kNoMemory);
  }
}

void SharedReceiveQueue::arm(std::uint32_t limit) {
  const Engine::Hold hold(engine_);
  limit_ = limit;
  look_at_limit_with_baton();
}

void SharedReceiveQueue::look_at_limit_with_baton() {
  base::require_lock(locks::kBaton);
  if (queue_->outstanding() >= limit_) return;
  // One event for each arm(), as InfiniBand's SRQ limit.
  limit_ = 0;
  engine_.upcalls().post_counted(this, LowReceivesUpcall{sink_});
}

hca::SharedReceiveCounts SharedReceiveQueue::counts() const {
  const Engine::Hold hold(engine_);
  const std::lock_guard lock(post_mutex_);
  return {.available = queue_->outstanding(), .outstanding = accounts_.owed(account_)};
}

std::uint32_t SharedReceiveQueue::high_water() const {
  const std::lock_guard lock(post_mutex_);
  return high_water_;
}

void SharedReceiveQueue::join() {
  base::require_lock(locks::kBaton);
  // So that take() never allocates.
  starving_.reserve(users_ + 1);
  ++users_;
}

void SharedReceiveQueue::leave(Task& queue_pair) {
  base::require_lock(locks::kBaton);
  sate(queue_pair);
  --users_;
}

// Looks again, after a message has found no receive. True: there still is none, and posts ring from now on, which runs
// the queue pair.
bool SharedReceiveQueue::starve(Task& queue_pair) {
  const std::lock_guard lock(post_mutex_);
  if (!queue_->is_empty()) return false;
  is_starved_ = true;
  if (std::find(starving_.begin(), starving_.end(), &queue_pair) == starving_.end()) starving_.push_back(&queue_pair);
  return true;
}

// Moves the oldest receive to the queue pair. False: there is none, and the queue pair is run when one comes.
bool SharedReceiveQueue::take(WorkQueue<RecvEntry>& to, Task& queue_pair) {
  base::require_lock(locks::kBaton);
  if (queue_->is_empty() && starve(queue_pair)) return false;
  move_oldest(*queue_, to);
  look_at_limit_with_baton();
  return true;
}

void SharedReceiveQueue::sate(Task& queue_pair) {
  base::require_lock(locks::kBaton);
  const auto place = std::find(starving_.begin(), starving_.end(), &queue_pair);
  if (place == starving_.end()) return;
  starving_.erase(place);
  const std::lock_guard lock(post_mutex_);
  is_starved_ = !starving_.empty();
}

// All that starve are run; the first takes the receive, and the others go on waiting.
void SharedReceiveQueue::run_with_baton() {
  base::require_lock(locks::kBaton);
  for (Task* queue_pair : starving_) engine_.run_at_end(*queue_pair);
}

}  // namespace softdat::simnic
