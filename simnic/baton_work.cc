// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/baton_work.h"

#include "simnic/lock_places.h"

namespace softdat::simnic {

void BatonWork::run_at_end(Task& task) {
  base::require_lock(locks::kBaton);
  if (!task.due_now_.is_linked()) due_now_.push_back(task);
}

void BatonWork::run_next_turn(Task& task) {
  base::require_lock(locks::kBaton);
  if (!task.due_now_.is_linked() && !task.due_later_.is_linked()) due_later_.push_back(task);
}

void BatonWork::forgo_next_turn(Task& task) {
  base::require_lock(locks::kBaton);
  if (task.due_later_.is_linked()) due_later_.erase(due_later_.iterator_to(task));
}

void BatonWork::forget(Task& task) {
  // A task that was rung and has not run would stay in the list as a dangling link. The others run at the end of the
  // section: the caller is in the middle of a change, and one of them may be its own queue pair.
  if (!doorbells_.is_empty()) doorbells_.drain([this](Task& rung) { run_at_end(rung); });
  if (task.due_now_.is_linked()) due_now_.erase(due_now_.iterator_to(task));
  forgo_next_turn(task);
}

// Acks that waited for a message to ride on: they leave in this section.
void BatonWork::promote_with_baton() {
  base::require_lock(locks::kBaton);
  while (!due_later_.empty()) {
    Task& task = due_later_.front();
    due_later_.pop_front();
    run_at_end(task);
  }
}

std::size_t BatonWork::run_timers(base::Time now) {
  base::require_lock(locks::kBaton);
  if (timers_.empty()) return 0;
  baton_.stay();
  return timers_.run(now);
}

// Unlinked before it runs: a task may make itself due again.
void BatonWork::run_due_with_baton() {
  base::require_lock(locks::kBaton);
  while (!due_now_.empty()) {
    Task& task = due_now_.front();
    due_now_.pop_front();
    task.run_with_baton();
  }
}

bool BatonWork::finish_with_baton() {
  base::require_lock(locks::kBaton);
  bool has_run = false;
  // A task may make others due, and posters may ring meanwhile: go on until both lists are empty.
  for (; !due_now_.empty() || !doorbells_.is_empty(); has_run = true) {
    run_due_with_baton();
    if (!doorbells_.is_empty()) doorbells_.drain([](Task& rung) { rung.run_with_baton(); });
  }
  if (graveyard_) {
    baton_.stay();
    empty_graveyard();
  }
  // Published before the baton is given away; EngineThread::wait_for_work() reads it. Only a change is stored.
  const auto next = timers_.next().time_since_epoch().count();
  if (next != next_deadline_.load(std::memory_order_relaxed)) next_deadline_.store(next, std::memory_order_seq_cst);
  is_calm_.store(timers_.empty() && due_later_.empty(), std::memory_order_relaxed);
  return has_run;
}

// One by one: a chain that died as a whole would use up the stack.
void BatonWork::empty_graveyard() {
  while (graveyard_) graveyard_ = graveyard_->unchain();
}

bool BatonWork::serve_late_ringers() {
  bool has_run = false;
  // After the baton was given away. If the try fails, another thread holds the baton or waits for it, and looks at the
  // list when it leaves (decision 3).
  while (!doorbells_.is_empty() && baton_.try_take()) {
    finish_with_baton();
    baton_.leave();
    has_run = true;
  }
  return has_run;
}

}  // namespace softdat::simnic
