// SPDX-License-Identifier: BSD-2-Clause
// CNO: lets a thread, an agent or a descriptor wait for events of several EVDs.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/clock.h"
#include "base/event_count.h"
#include "libdat/object/handle_table.h"
#include "libdat/object/lock_places.h"
#include "libdat/object/nasty_hints.h"
#include "libdat/object/notification_descriptor.h"
#include "libdat/object/object.h"
#include "libdat/object/status.h"
#include "libdat/object/wait_agent.h"

namespace softdat::object {

struct ConsumerNotificationParameters {
  Handle ia;
  WaitAgent agent;
  int descriptor;  // -1: it has none
};

// Any thread. A trigger is kept until a wait() takes it; further triggers merge with it. The agent is called once, by
// the IA's upcall thread without any lock, and is no longer associated then; modify_agent() associates it again
// (docs/decisions/0005). A CNO has an agent or a descriptor, not both.
class ConsumerNotification final : public Object {
 public:
  static constexpr Kind kKind = Kind::kCno;

  static Status create(InterfaceAdapter& ia, WaitAgent agent, Handle& cno);  // dat_cno_create

  // dat_cno_fd_create. INSUFFICIENT_RESOURCES if no descriptor can be had. The CNO owns the descriptor, which is
  // readable exactly while a trigger is kept.
  static Status create_with_descriptor(InterfaceAdapter& ia, int& descriptor, Handle& cno);

  // dat_cno_free. INVALID_STATE while an EVD refers to it or a thread is blocked in wait().
  static Status free(Pin<ConsumerNotification> cno);

  // dat_cno_wait. On success `evd` is an EVD with events, or null if all EVDs or the IA have gone. On QUEUE_EMPTY
  // (time-out) it is null. Otherwise it is not written. REQUIRES: the cancellation of the thread was deferred before
  // the CNO was pinned (cancellation_shield.h).
  Status wait(std::uint32_t timeout_us, Handle& evd);

  // dat_cno_trigger: wait() without waiting, for a CNO with a descriptor. MODEL_NOT_SUPPORTED without one; QUEUE_EMPTY
  // and a null `evd` if there is no trigger. When all EVDs or the IA have gone there is one, with a null `evd`.
  Status take_trigger_of_descriptor(Handle& evd);

  // dat_cno_modify_agent. INVALID_PARAMETER for an agent beside a descriptor.
  Status modify_agent(WaitAgent agent);
  ConsumerNotificationParameters query() const;  // dat_cno_query

  // --- For EVDs ---

  // Triggers the CNO for an event of `evd`.
  void trigger(Handle evd);

  // Adds and removes an EVD that refers to the CNO. False if the CNO is being freed. add_evd() throws std::bad_alloc.
  [[nodiscard]] bool add_evd(Handle evd);
  // `is_freed`: the EVD is being freed. The last such EVD unblocks all waiters with null.
  void remove_evd(Handle evd, bool is_freed);

 private:
  class Waiter;
  explicit ConsumerNotification(InterfaceAdapter& ia);
  void on_closing() override;
  // What wait() answers when its time has passed.
  Status nothing_came() const;
  bool take_trigger(std::uint64_t epoch, Handle& evd);
  Handle take_hint_locked();
  Handle any_evd_locked() const;
  bool echoes_locked();
  bool is_worth_waking(std::uint64_t epoch) const;
  base::WakeReason await_news(base::Time deadline, std::uint64_t epoch);
  void unblock_all_locked();
  void check_locked() const;
  void call_agent_locked(Handle evd);
  // Replaces the agent; the earlier one is not called any more. REQUIRES: room for a call was reserved.
  void associate_locked(WaitAgent agent);

  base::EventCount wake_;

  // Guarded by mutex_ (taken after that of an EVD's CnoTrigger).
  mutable base::Mutex<locks::kConsumerNotification> mutex_;
  NotificationDescriptor descriptor_;  // readable while is_triggered_; open or not since creation
  WaitAgent agent_;
  bool is_triggered_ = false;
  bool is_closed_ = false;
  Handle hint_ = nullptr;
  std::uint64_t epoch_ = 0;   // how often all waiters were unblocked with null
  std::vector<Handle> evds_;  // those that refer to it
  std::int64_t waiters_ = 0;
  std::unique_ptr<NastyHints> nasty_;  // null: not in nasty mode
};

}  // namespace softdat::object
