// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/endpoint_bindings.h"

#include "base/assert.h"

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
  SOFTDAT_DEBUG_CHECK(all_.empty(), "an EP has one first binding", all_.size());
  now_.store(first.get(), std::memory_order_release);
  all_.push_back(std::move(first));
}

void EndpointBindings::make_room_locked() {
  base::require_lock(locks::kModify);
  all_.reserve(all_.size() + 1);
}

void EndpointBindings::add_locked(std::unique_ptr<EndpointBinding> made) {
  base::require_lock(locks::kModify);
  base::require_lock(locks::kEndpoint);
  SOFTDAT_DEBUG_CHECK(all_.size() < all_.capacity(), "there is room for a binding before it is made", all_.size());
  now_.store(made.get(), std::memory_order_release);
  all_.push_back(std::move(made));
}

EndpointBinding& EndpointBindings::newest_locked() {
  base::require_lock(locks::kModify);
  return *all_.back();
}

// Sinks may still ask until destroy_queue_pairs() returns; they find no queue pair.
void EndpointBindings::end() {
  static const EndpointBinding* const kNone = nullptr;
  now_.store(kNone, std::memory_order_release);
}

void EndpointBindings::destroy_queue_pairs() {
  // All queue pairs first: an EVD that was left may be freed at once.
  for (const auto& binding : all_) binding->destroy_queue_pair();
  for (const auto& binding : all_) binding->leave();
}

}  // namespace softdat::object
