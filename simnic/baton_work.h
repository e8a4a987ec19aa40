// SPDX-License-Identifier: BSD-2-Clause
// BatonWork: a NIC's baton, and the work that its holder does before it gives the baton away. A section is the time for
// which one thread holds the baton.
//
// Work comes from tasks that are due in this section or in the next turn, from tasks that other threads rang, from
// timers, and from channels to be destroyed. docs/decisions/0003-the-baton.md has the proof that no ring is lost.
//
// Owns the channels that were handed over; tasks and timers belong to others and are forgotten before they die.
//
// Threads: REQUIRES the baton, but for what takes it, and for what says otherwise. Errors: none. Nothing here
// allocates.
#pragma once

#include <atomic>
#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/timers.h"
#include "simnic/baton.h"
#include "simnic/doorbell_list.h"
#include "simnic/lock_places.h"
#include "simnic/task.h"
#include "transport/channel.h"

namespace softdat::simnic {

class BatonWork {
 public:
  BatonWork(const BatonWork&) = delete;
  BatonWork& operator=(const BatonWork&) = delete;

  // Before what may be a cancellation point. Engine::Hold does it, and a turn of the carrier takes care of itself.
  void stay() { baton_.stay(); }
  base::Timers& timers() { return timers_; }
  void run_at_end(Task& task);       // of this section
  void run_next_turn(Task& task);    // or at the end of this one, if it is an eager one
  void forgo_next_turn(Task& task);  // what it was to be run for has been done
  // Destroys a closed channel at the end of the section, when no call of it can be on the stack.
  void bury(std::unique_ptr<transport::Channel> channel) {
    channel->chain(std::move(graveyard_));
    graveyard_ = std::move(channel);
  }
  // No list holds the task afterwards, unless it is rung again.
  void forget(Task& task);

 protected:
  BatonWork() = default;
  ~BatonWork() = default;

  // These take the baton, or look whether it is held.
  void take() { baton_.take(); }
  bool try_take() { return baton_.try_take(); }
  bool is_held() const { return baton_.is_held(); }
  // Gives the baton away, and runs tasks that were rung at that moment. True if it ran any, so that the deadline may
  // have changed. A ringer that found the baton taken relies on the look at the doorbells after the baton has been
  // given away. If taking it back fails, its next holder looks.
  bool leave() {
    base::require_lock(locks::kBaton);
    baton_.leave();
    if (doorbells_.is_empty()) [[likely]]
      return false;
    return serve_late_ringers();
  }
  // Any thread, without the baton: the next holder, or the present one as it leaves, runs the task.
  void ring_holder(Task& task) { doorbells_.ring(task); }

  // Runs all that is due now, and publishes the deadline. True if a task ran.
  bool finish_with_baton();
  // Makes the tasks due that were put off to the next turn.
  void promote_with_baton();
  std::size_t run_timers(base::Time now);
  // REQUIRES: the carrier that made the channels is there.
  void empty_graveyard();

  // Does not look at the doorbells, because leave() does, after the baton has been given away.
  bool has_nothing_due() const { return due_now_.empty() && timers_.empty() && !graveyard_; }
  std::size_t count_due() const { return due_now_.size(); }
  bool has_put_off() const { return !due_later_.empty(); }
  bool has_timers() const { return !timers_.empty(); }
  // The section has only looked, and nothing is due.
  void note_calm() { is_calm_.store(due_later_.empty(), std::memory_order_relaxed); }

  // Any thread. Nothing is due but what the carrier's words tell of.
  bool is_calm() const { return is_calm_.load(std::memory_order_relaxed); }
  // Any thread. Of the timers, as of the last section that set or ran one.
  base::Time next_deadline() const {
    return base::Time(base::Duration(next_deadline_.load(std::memory_order_seq_cst)));
  }

 private:
  bool serve_late_ringers();
  void run_due_with_baton();

  Baton baton_;
  DoorbellList doorbells_;
  // Owned by the baton.
  base::Timers timers_;
  template <Task::DueHook Task::*Hook>
  using TaskList = boost::intrusive::list<Task, boost::intrusive::member_hook<Task, Task::DueHook, Hook>>;
  TaskList<&Task::due_now_> due_now_;
  TaskList<&Task::due_later_> due_later_;
  std::unique_ptr<transport::Channel> graveyard_;  // the last of a chain
  // Written with the baton, read without.
  std::atomic<bool> is_calm_{false};
  std::atomic<base::Time::rep> next_deadline_{base::kNever.time_since_epoch().count()};
};

}  // namespace softdat::simnic
