// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/endpoint_bindings.h"

#include <algorithm>

#include "base/assert.h"
#include "libdat/object/handle_table.h"

namespace softdat::object {

hca::QueuePair* EndpointBindings::queue_pair() const {
  const EndpointBinding* const now = now_.load(std::memory_order_acquire);
  return now == nullptr ? nullptr : now->queue_pair();
}

bool EndpointBindings::is_datagram() const {
  const EndpointBinding* const now = now_.load(std::memory_order_acquire);
  return now != nullptr && now->datagram_queue_pair() != nullptr;
}

EndpointState EndpointBindings::state() const {
  return state_with(queue_pair());
}

hca::QueuePair* EndpointBindings::queue_pair_for(EndpointEvent event) const {
  hca::QueuePair* const present = queue_pair();
  return next_state(state_with(present), event) ? present : nullptr;
}

EndpointState EndpointBindings::state_with(const hca::QueuePair* queue_pair) const {
  return state_of(queue_pair == nullptr ? hca::QueuePairState::kIdle : queue_pair->state(), reservation_.load());
}

void EndpointBindings::begin(std::unique_ptr<EndpointBinding> first) {
  SOFTDAT_DEBUG_CHECK(newest_ == nullptr, "an EP has one first binding");
  now_.store(first.get(), std::memory_order_release);
  newest_ = std::move(first);
}

// With the lock of those that look at the list, because it may move.
void EndpointBindings::make_room_locked() {
  base::require_lock(locks::kModify);
  const std::lock_guard lock(mutex_);
  replaced_.reserve(replaced_.size() + 1);
}

void EndpointBindings::add_locked(std::unique_ptr<EndpointBinding> made) {
  base::require_lock(locks::kModify);
  base::require_lock(locks::kEndpoint);
  SOFTDAT_DEBUG_CHECK(replaced_.size() < replaced_.capacity(), "there is room for a binding before it is made",
                      replaced_.size());
  now_.store(made.get(), std::memory_order_release);
  replaced_.push_back(std::exchange(newest_, std::move(made)));
}

EndpointBinding& EndpointBindings::newest_locked() {
  base::require_lock(locks::kModify);
  return *newest_;
}

// A queue pair waits for its sink when it ends. A sink has no pin, and may use the bindings that were present while its
// queue pair has been there: so the oldest ends first.
void EndpointBindings::end_replaced(const Object& ep) {
  for (auto& binding : take_replaced(ep)) binding.reset();
}

// A pin that comes after the look leads to the present binding, which was stored before the look. An event of a
// connection that has been reset may still be on its way to the consumer.
std::vector<std::unique_ptr<EndpointBinding>> EndpointBindings::take_replaced(const Object& ep) {
  const std::lock_guard modify_lock(modify_mutex_);
  const std::lock_guard lock(mutex_);
  const auto has_told_all = [](const auto& binding) {
    return binding->queue_pair() == nullptr || binding->queue_pair()->has_told_all();
  };
  if (replaced_.empty() || !HandleTable::is_pinned_once(ep)) return {};
  if (!std::all_of(replaced_.begin(), replaced_.end(), has_told_all)) return {};
  for (const auto& binding : replaced_) add_counts(binding.get(), ended_counts_);
  return std::exchange(replaced_, {});
}

hca::CountSums EndpointBindings::counts_locked() const {
  base::require_lock(locks::kEndpoint);
  hca::CountSums sums = ended_counts_;
  for (const auto& binding : replaced_) add_counts(binding.get(), sums);
  add_counts(newest_.get(), sums);
  return sums;
}

// A queue pair that counts nothing, or none, is left out.
void EndpointBindings::add_counts(const EndpointBinding* binding, hca::CountSums& sums) {
  const auto* const counting =
      binding == nullptr ? nullptr : dynamic_cast<const hca::CountingQueuePair*>(binding->queue_pair());
  if (counting != nullptr) sums.add(counting->transfer_counts(), counting->counts());
}

// Sinks may still ask until destroy_queue_pairs() returns; they find no queue pair.
void EndpointBindings::end() {
  static const EndpointBinding* const kNone = nullptr;
  now_.store(kNone, std::memory_order_release);
}

// All queue pairs first: an EVD that was left may be freed at once.
void EndpointBindings::destroy_queue_pairs() {
  for (const auto& binding : replaced_) binding->destroy_queue_pair();
  if (newest_ != nullptr) newest_->destroy_queue_pair();
  for (const auto& binding : replaced_) binding->leave();
  if (newest_ != nullptr) newest_->leave();
}

}  // namespace softdat::object
