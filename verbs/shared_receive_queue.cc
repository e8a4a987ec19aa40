// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/shared_receive_queue.h"

#include <algorithm>
#include <cerrno>
#include <new>

#include "base/assert.h"
#include "base/made_once.h"
#include "base/uncancelled.h"
#include "hca/receive_accounts.h"
#include "hca/request_rules.h"
#include "verbs/completion_queue.h"
#include "verbs/scatter_list.h"
#include "verbs/status.h"

namespace softdat::verbs {
namespace {

// Of the process, because a completion is settled without knowing its device.
hca::ReceiveAccounts& accounts() {
  static constinit std::atomic<hca::ReceiveAccounts*> all{nullptr};
  return base::made_once(all, [] { return std::make_unique<hca::ReceiveAccounts>(0xffff); });
}

}  // namespace

SharedReceiveQueue::SharedReceiveQueue(EventThread& events, Adapter& adapter, const MemoryTable& memory,
                                       std::uint32_t domain, const hca::SharedReceiveQueueConfig& config)
    : events_(events),
      adapter_(adapter),
      memory_(memory),
      domain_(domain),
      max_sge_(config.max_sge),
      sink_(*config.sink),
      account_(accounts().open().value_or(0)),
      capacity_(config.capacity),
      entries_(config.capacity) {
  for (WorkEntry& entry : entries_) free_.push_back(&entry);
}

hca::Result<std::unique_ptr<hca::SharedReceiveQueue>> SharedReceiveQueue::create(
    EventThread& events, Adapter& adapter, const MemoryTable& memory, ibv_pd* pd, std::uint32_t domain,
    const hca::SharedReceiveQueueConfig& config) {
  std::unique_ptr<SharedReceiveQueue> self(new SharedReceiveQueue(events, adapter, memory, domain, config));
  if (self->account_ == 0) return hca::fail(hca::Error::kLimitReached);
  ibv_srq_init_attr wish{};
  wish.attr.max_wr = config.capacity;
  // One at least, for give_empty_segment().
  wish.attr.max_sge = std::max(config.max_sge, 1u);
  self->srq_ = adapter.library().objects.create_srq(pd, &wish);
  if (self->srq_ == nullptr) return hca::fail(error_of(errno));
  events.add(key_of(self->srq_), *self);
  return std::unique_ptr<hca::SharedReceiveQueue>(std::move(self));
}

SharedReceiveQueue::~SharedReceiveQueue() {
  const base::Uncancelled guard;
  // First: no call of the event thread runs from here on.
  events_.forget(*this);
  if (srq_ != nullptr) adapter_.library().objects.destroy_srq(srq_);
  if (account_ != 0) accounts().close(account_);
}

std::uint32_t SharedReceiveQueue::capacity() const {
  const std::lock_guard lock(mutex_);
  return capacity_;
}

hca::Outcome SharedReceiveQueue::post_recv(const hca::RecvRequest& request) {
  const std::uint64_t length = hca::total_length(request.local);
  if (!hca::is_well_formed(request, length) || request.local.size() > max_sge_) {
    return hca::fail(hca::Error::kInvalidArgument);
  }
  // Reads the completion queues first, because receives that have completed make room. Checked again under the lock.
  if (counts().outstanding >= capacity()) return hca::fail(hca::Error::kLimitReached);
  const std::lock_guard lock(mutex_);
  if (const auto fit = memory_.check(request.local, hca::kLocalWrite, domain_, last_); !fit) return fit;
  if (free_.empty() || accounts().owed(account_) >= capacity_) return hca::fail(hca::Error::kLimitReached);
  WorkEntry* const entry = free_.back();
  *entry = {.shared = this,
            .cookie = request.wr_id,
            .length = static_cast<std::uint32_t>(length),
            .flags = request.flags,
            .opcode = hca::CompletionOpcode::kRecv,
            .is_receive = true,
            .is_with_device = true};
  ScatterList list(request.local);
  ibv_recv_wr work{.wr_id = reinterpret_cast<std::uintptr_t>(entry),
                   .next = nullptr,
                   .sg_list = list.data(),
                   .num_sge = list.size()};
  ibv_recv_wr* bad = nullptr;
  const base::Uncancelled guard;
  accounts().charge(account_);  // first, because it may complete at once
  int error = ibv_post_srq_recv(srq_, &work, &bad);
  if (is_refused(error) && list.give_empty_segment(work)) error = ibv_post_srq_recv(srq_, &work, &bad);
  if (error != 0) {
    accounts().settle(account_);
    return hca::fail(error_of(error));
  }
  free_.pop_back();
  ++available_;
  check_entries_locked();
  return hca::Done{};
}

// The device's queue never shrinks; capacity_ bounds the posts.
hca::Outcome SharedReceiveQueue::resize(std::uint32_t capacity) try {
  const base::Uncancelled guard;
  drain_queues();
  const std::lock_guard lock(mutex_);
  if (accounts().owed(account_) > capacity) return hca::fail(hca::Error::kInvalidState);
  if (capacity > entries_.size()) {
    ibv_srq_attr wish{.max_wr = capacity, .max_sge = max_sge_, .srq_limit = limit_};
    if (const int error = adapter_.library().objects.modify_srq(srq_, &wish, IBV_SRQ_MAX_WR); error != 0) {
      return hca::fail(error_of(error));
    }
    free_.reserve(capacity);
    while (entries_.size() < capacity) free_.push_back(&entries_.emplace_back());
  }
  capacity_ = capacity;
  check_entries_locked();
  return hca::Done{};
} catch (const std::bad_alloc&) {
  return hca::fail(hca::Error::kNoMemory);
}

// A device speaks up when a receive is taken, not when there have been too few all the time; and a
// completion that somebody has polled may tell sooner. Whoever comes first, it is our count that decides.
void SharedReceiveQueue::arm(std::uint32_t limit) {
  drain_queues();
  bool is_low = false;
  {
    const std::lock_guard lock(mutex_);
    limit_ = limit;
    is_low = available_ < limit;
  }
  arm_device(is_low ? 0 : limit);
  if (is_low) events_.post(*this);
}

void SharedReceiveQueue::arm_device(std::uint32_t limit) {
  const base::Uncancelled guard;
  ibv_srq_attr wish{.max_wr = 0, .max_sge = 0, .srq_limit = limit};
  adapter_.library().objects.modify_srq(srq_, &wish, IBV_SRQ_LIMIT);
}

// The device disarms its limit when it fires. Our own count decides whether the sink is told.
void SharedReceiveQueue::on_async_event(ibv_event_type type) {
  if (type != IBV_EVENT_SRQ_LIMIT_REACHED) return;
  drain_queues();
  on_wake();
}

void SharedReceiveQueue::on_wake() {
  {
    const std::lock_guard lock(mutex_);
    if (available_ >= limit_) return;
    // Told once, until the consumer arms it again.
    limit_ = 0;
  }
  sink_.on_low();
}

void SharedReceiveQueue::drain_queues() const {
  const std::lock_guard lock(queues_mutex_);
  for (CompletionQueue* const queue : queues_) queue->drain();
}

hca::SharedReceiveCounts SharedReceiveQueue::counts() const {
  drain_queues();
  const std::lock_guard lock(mutex_);
  return {.available = available_, .outstanding = accounts().owed(account_)};
}

void SharedReceiveQueue::attach(CompletionQueue& queue) {
  const std::lock_guard lock(queues_mutex_);
  queues_.push_back(&queue);
}

void SharedReceiveQueue::detach(CompletionQueue& queue) {
  const std::lock_guard lock(queues_mutex_);
  const auto found = std::find(queues_.begin(), queues_.end(), &queue);
  if (found != queues_.end()) queues_.erase(found);  // memory may have run out before it came to that
}

// REQUIRES the lock of the completion queue that brings the receive.
std::uint16_t SharedReceiveQueue::on_taken(const WorkEntry& entry) {
  const std::lock_guard lock(mutex_);
  SOFTDAT_DEBUG_CHECK(entry.shared == this, "a receive returns to the queue that it was posted to", entry.position);
  free_.push_back(const_cast<WorkEntry*>(&entry));
  --available_;
  check_entries_locked();
  // The event thread tells the sink, because the lock of a completion queue is held here.
  if (available_ < limit_) events_.post(*this);
  return account_;
}

void SharedReceiveQueue::check_entries_locked() const {
  base::require_lock(locks::kVerbsSharedReceiveQueue);
  SOFTDAT_DEBUG_CHECK(free_.size() + available_ == entries_.size(), "an entry is either free or with the device",
                      free_.size(), available_);
}

void SharedReceiveQueue::settle_one(std::uint16_t account) {
  accounts().settle(account);
}

}  // namespace softdat::verbs
