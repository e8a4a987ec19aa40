// SPDX-License-Identifier: BSD-2-Clause
// The bindings of an EP: the one that it has now, and those that it has replaced. The state of the present queue pair
// and the EP's reservation make the state of the EP, which is stored nowhere.
//
// Owned by the EP, and the owner of each binding until the EP is destroyed. What the data path reads is one atomic
// pointer. Any thread, unless a function asks for a lock.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/lock_order.h"
#include "libdat/object/endpoint_binding.h"
#include "libdat/object/endpoint_state.h"
#include "libdat/object/lock_places.h"

namespace softdat::object {

class EndpointBindings {
 public:
  // Throws std::bad_alloc.
  EndpointBindings() { all_.reserve(1); }

  // The present binding. REQUIRES: the EP has a handle, and the caller a pin.
  const EndpointBinding& now() const { return *now_.load(std::memory_order_acquire); }
  // The present queue pair, or null: without a PZ, and once the EP has ended.
  hca::QueuePair* queue_pair() const;
  // The present queue pair is one for datagrams.
  bool is_datagram() const;

  EndpointState state() const;
  bool allows(EndpointEvent event) const { return next_state(state(), event).has_value(); }
  // The present queue pair if the state allows `event`, or null. For calls without a lock: other threads may reset and
  // modify the EP between allows() and queue_pair().
  hca::QueuePair* queue_pair_for(EndpointEvent event) const;
  // An EP for datagrams may make any number of exchanges.
  bool may_exchange() const { return is_datagram() && state() == EndpointState::kConnected; }

  Reservation reservation() const { return reservation_.load(); }
  void set_reservation(Reservation reservation) { reservation_.store(reservation); }
  // False, and nothing happens, if the reservation is another one than `from`.
  bool change_reservation(Reservation from, Reservation to) { return reservation_.compare_exchange_strong(from, to); }

  // The first binding. Before others know the EP; no lock is needed.
  void begin(std::unique_ptr<EndpointBinding> first);
  // Makes room for one more, so that add_locked() cannot fail. Throws std::bad_alloc. Under kModify.
  void make_room_locked();
  // `made` is the present binding from now on. Under kModify and kEndpoint, after make_room_locked().
  void add_locked(std::unique_ptr<EndpointBinding> made);
  // The one that was added last. Under kModify.
  EndpointBinding& newest_locked();
  // Calls `act` with each queue pair that the EP has had; it may be null. Under kEndpoint.
  template <typename Act>
  void for_each_queue_pair_locked(Act act) const {
    base::require_lock(locks::kEndpoint);
    for (const auto& binding : all_) act(binding->queue_pair());
  }

  // The EP has ended: there is no present binding any more.
  void end();
  // Destroys the queue pairs, and leaves the PZs and EVDs. After end(), with no call under way; sinks may be called
  // until it returns.
  void destroy_queue_pairs();

 private:
  EndpointState state_with(const hca::QueuePair* queue_pair) const;

  std::atomic<const EndpointBinding*> now_{nullptr};
  std::atomic<Reservation> reservation_{Reservation::kNone};
  std::vector<std::unique_ptr<EndpointBinding>> all_;  // changed under kModify and kEndpoint, read under either
};

}  // namespace softdat::object
