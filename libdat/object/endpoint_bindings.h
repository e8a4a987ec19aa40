// SPDX-License-Identifier: BSD-2-Clause
// The bindings of an EP: the one that it has now, and those that it has replaced while other calls may have used them.
// The state of the present queue pair and the EP's reservation make the state of the EP, which is stored nowhere.
//
// Owned by the EP, and the owner of each binding. One that was replaced ends at a dat_ep_modify or dat_ep_reset that
// has the only pin of the EP, because other calls use bindings under a pin of theirs, or else with the EP. What the
// data path reads is one atomic pointer. Any thread, unless a function asks for a lock.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/lock_order.h"
#include "hca/counters.h"
#include "libdat/object/endpoint_binding.h"
#include "libdat/object/endpoint_state.h"
#include "libdat/object/lock_places.h"

namespace softdat::object {

class EndpointBindings {
 public:
  // Both outlive this object.
  EndpointBindings(base::Mutex<locks::kModify>& modify_mutex, base::Mutex<locks::kEndpoint>& mutex)
      : modify_mutex_(modify_mutex), mutex_(mutex) {}

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
  // Makes room for one more, so that add_locked() cannot fail. Throws std::bad_alloc. Under kModify; takes kEndpoint.
  void make_room_locked();
  // `made` is the present binding from now on. Under kModify and kEndpoint, after make_room_locked().
  void add_locked(std::unique_ptr<EndpointBinding> made);
  // The present binding. Under kModify.
  EndpointBinding& newest_locked();
  // Ends the bindings that were replaced, if the caller's pin of `ep` is the only one and their events have been told;
  // else nothing. What their queue pairs have counted stays. No lock may be held.
  void end_replaced(const Object& ep);
  // Waits until a replacement that has begun has ended: a queue pair that is retired is not the present one then.
  void await_replacement() const { const std::lock_guard lock(modify_mutex_); }
  // What all queue pairs that the EP has had have counted together. Under kEndpoint.
  hca::CountSums counts_locked() const;

  // The EP has ended: there is no present binding any more.
  void end();
  // Destroys the queue pairs, and leaves the PZs and EVDs. After end(), with no call under way; sinks may be called
  // until it returns.
  void destroy_queue_pairs();

 private:
  EndpointState state_with(const hca::QueuePair* queue_pair) const;
  static void add_counts(const EndpointBinding* binding, hca::CountSums& sums);
  std::vector<std::unique_ptr<EndpointBinding>> take_replaced(const Object& ep);

  base::Mutex<locks::kModify>& modify_mutex_;
  base::Mutex<locks::kEndpoint>& mutex_;
  std::atomic<const EndpointBinding*> now_{nullptr};
  std::atomic<Reservation> reservation_{Reservation::kNone};
  // Changed under kModify and kEndpoint, read under either.
  std::unique_ptr<EndpointBinding> newest_;
  std::vector<std::unique_ptr<EndpointBinding>> replaced_;  // oldest first
  hca::CountSums ended_counts_;                             // of the queue pairs that are gone
};

}  // namespace softdat::object
