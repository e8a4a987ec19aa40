// SPDX-License-Identifier: BSD-2-Clause
// CNO: one thing to wait for that stands for several EVDs.
#pragma once

#include <cstdint>
#include <mutex>

#include "base/clock.h"
#include "base/event_count.h"
#include "libdat/object/handle_table.h"
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

// Any thread. A trigger is kept until one wait() has taken it; further ones merge with it. The agent
// is called once, by a thread of its own that holds nothing, and is then no longer associated
// (dat_cno_create); modify_agent() associates it anew. A CNO has an agent or a descriptor, never both.
class ConsumerNotification final : public Object {
 public:
  static constexpr Kind kKind = Kind::kCno;

  static Status create(InterfaceAdapter& ia, WaitAgent agent, Handle& cno);  // dat_cno_create

  // dat_cno_fd_create. INSUFFICIENT_RESOURCES when there are no descriptors. The descriptor belongs to the CNO and is
  // readable exactly while a trigger is kept.
  static Status create_with_descriptor(InterfaceAdapter& ia, int& descriptor, Handle& cno);

  // dat_cno_free. INVALID_STATE while an EVD refers to it or a thread is blocked in wait().
  static Status free(Pin<ConsumerNotification> cno);

  // dat_cno_wait. `evd` is the hint on success, and null on success when all EVDs or the IA went;
  // on QUEUE_EMPTY (timeout) it is null. Otherwise it is left alone. The caller holds a
  // CancellationShield from before it pinned the CNO.
  Status wait(std::uint32_t timeout_us, Handle& evd);

  // dat_cno_trigger: what wait() without a timeout does for a CNO with a descriptor. MODEL_NOT_SUPPORTED without one,
  // QUEUE_EMPTY and a null `evd` when nothing has triggered it. The end of all EVDs or of the IA is a trigger by null.
  Status take_trigger_of_descriptor(Handle& evd);

  // dat_cno_modify_agent. INVALID_PARAMETER for an agent beside a descriptor.
  Status modify_agent(WaitAgent agent);
  ConsumerNotificationParameters query() const;  // dat_cno_query

  // --- For EVDs ---

  // An event has come on `evd`.
  void trigger(Handle evd);

  // An EVD begins or ends to refer to the CNO. False when the CNO is being freed.
  [[nodiscard]] bool add_evd();
  // `is_freed`: the EVD goes for good, and the last one to do so unblocks all waiters with null.
  void remove_evd(Handle evd, bool is_freed);

 private:
  class Waiter;
  explicit ConsumerNotification(InterfaceAdapter& ia);
  void on_closing() override;
  bool take_trigger(std::uint64_t epoch, Handle& evd);
  Handle take_hint_locked();
  bool is_worth_waking(std::uint64_t epoch) const;
  base::WakeReason await_news(base::Time deadline, std::uint64_t epoch);
  void unblock_all_locked();
  void call_agent_locked(Handle evd);
  // The one before is not called any more. The room for a call of this one has been reserved.
  void associate_locked(WaitAgent agent);

  base::EventCount wake_;

  // Guarded by mutex_ (taken after an EVD's lock).
  mutable std::mutex mutex_;
  NotificationDescriptor descriptor_;  // raised as is_triggered_ is; open or not from the beginning
  WaitAgent agent_;
  bool is_triggered_ = false;
  bool is_closed_ = false;
  Handle hint_ = nullptr;
  std::uint64_t epoch_ = 0;  // counts the times that all waiters were unblocked with null
  std::int64_t evds_ = 0;
  std::int64_t waiters_ = 0;
};

}  // namespace softdat::object
