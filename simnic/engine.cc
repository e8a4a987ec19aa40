// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/engine.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/assert.h"
#include "base/fault_guard.h"
#include "base/pause.h"
#include "simnic/engine_thread.h"
#include "simnic/lock_places.h"

namespace softdat::simnic {
namespace {

constexpr std::size_t kTakesTurn = transport::Carrier::kTakesTurn;
// Longer than any answer on an idle machine takes.
constexpr base::Duration kPatience = std::chrono::microseconds(20);
// A program may replace the handlers of SIGSEGV and SIGBUS at any time. To look costs two system calls.
constexpr base::Duration kGuardInterval = std::chrono::milliseconds(1);

}  // namespace

Engine::Engine(std::unique_ptr<transport::Carrier> carrier, Drive drive)
    : drive_(drive), carrier_(std::move(carrier)), watch_words_(carrier_->watch_words()) {
  if (drive_ == Drive::kThread) thread_ = std::make_unique<EngineThread>(*this);
}

Engine::~Engine() {
  thread_.reset();
  base::check(!baton_.is_held(), "nobody uses a dying engine");
  empty_graveyard();
}

base::Time Engine::now() const {
  return drive_ == Drive::kByHand ? now_ : base::Clock::now();
}

base::Time Engine::poll_time(std::uint64_t poll) const {
  return drive_ == Drive::kThread && poll % kPollsPerClock == 0 ? base::Clock::now() : now_;
}

// True after 20 us of empty polls: the caller yields, because on a busy machine the peer may need this processor.
bool Engine::is_polled_in_vain(std::uint64_t poll, std::size_t done) {
  if (done > 0) last_done_ = now_;
  return poll % kPollsPerClock == 0 && now_ - last_done_ > kPatience;
}

// Something may be put off only while the engine thread is sure to look again soon: while it stands aside. It cannot
// come back to waiting without a turn of its own after ours.
Haste Engine::poll_haste() const {
  return thread_ && thread_->is_standing_aside() ? Haste::kPatient : Haste::kEager;
}

// A ringer that found the baton taken relies on this look at the doorbells, after the baton has been given away. If
// taking it back fails, its next holder looks.
inline void Engine::leave() {
  base::require_lock(locks::kBaton);
  baton_.leave();
  if (!doorbells_.is_empty()) [[unlikely]]
    serve_late_ringers();
}

// Another of the queues that are polled in turn asks the kernel.
inline bool Engine::may_leave_to_leader(const void* queue) {
  return queue != nullptr && does_poll_ask_kernel_.load(std::memory_order_relaxed) && !leader_.leads(queue);
}

bool Engine::progress_for(const void* queue) {
  if (is_empty_poll()) return false;
  return may_leave_to_leader(queue) ? tell_news() : progress_with_baton();
}

// Looks at what peers have written. Makes a turn instead if it is time to look at the clock, if a timer is set, or if
// the carrier has more to do.
[[gnu::always_inline]] inline Engine::Polled Engine::poll_with_baton() {
  base::require_lock(locks::kBaton);
  const std::uint64_t poll = count_poll();
  if (poll % kPollsPerClock == 0 || !timers_.empty()) [[unlikely]]
    return turn_in_poll(poll);
  const std::size_t done = carrier_->look();
  does_poll_ask_kernel_.store(done == kTakesTurn, std::memory_order_relaxed);
  if (done == kTakesTurn) return turn_in_poll(poll);
  const bool is_ack_due = !due_later_.empty() && (done == 0 || poll_haste() == Haste::kEager);
  if (is_ack_due) promote_with_baton();
  if (done > 0) last_done_ = now_;
  if (has_nothing_due()) [[likely]] {
    SOFTDAT_DEBUG_CHECK(next_deadline_.load() == base::kNever.time_since_epoch().count(),
                        "an engine without timers has no deadline");
    is_calm_.store(due_later_.empty(), std::memory_order_relaxed);
    return {done, End::kBrief};
  }
  finish_section_with_baton();
  return {done, End::kWhole};
}

[[gnu::noinline]] Engine::Polled Engine::turn_in_poll(std::uint64_t poll) {
  const std::size_t done = turn_with_baton(poll_time(poll), poll_haste());
  const bool is_in_vain = drive_ == Drive::kThread && is_polled_in_vain(poll, done);
  return {done, is_in_vain ? End::kInVain : End::kWhole};
}

// Without the baton. A section that only looked has set no timer, so the engine thread needs no look at its deadline.
inline void Engine::end_poll(End end) {
  if (thread_) thread_->note_polls();
  if (end == End::kBrief) return;
  if (thread_) thread_->note_deadline();
  if (end == End::kInVain) [[unlikely]]
    std::this_thread::yield();
}

// Does nothing while another thread has the baton.
[[gnu::noinline]] bool Engine::progress_with_baton() {
  Polled polled;
  if (baton_.try_take()) {
    polled = poll_with_baton();
    leave();
    end_poll(polled.end);
  }
  return tell_news() || polled.done > 0;
}

// The same, and takes a completion of `queue`.
bool Engine::take_by_progress(CompletionQueue& queue, hca::Completion& out) {
  if (may_leave_to_leader(&queue) || !baton_.try_take()) return tell_news() && queue.take(out);
  queue.claim(out);
  const Polled polled = poll_with_baton();
  const bool is_taken = queue.end_claim();
  leave();
  end_poll(polled.end);
  const bool is_told = tell_news();
  if (!is_taken) return (is_told || polled.done > 0) && queue.take(out);
  queue.settle(out);
  return true;
}

void Engine::catch_up() {
  if (drive_ == Drive::kByHand || !baton_.try_take()) return;
  if (turn_with_baton(poll_time(count_poll()), poll_haste()) > 0) last_done_ = now_;
  let_go();
}

bool Engine::peek() {
  if (!baton_.try_take()) return false;
  const std::size_t done = turn_with_baton(base::Clock::now(), Haste::kEager);
  leave();
  upcalls_.deliver();
  return done > 0;
}

std::size_t Engine::turn(base::Time now, Haste haste) {
  baton_.take();
  const std::size_t done = turn_with_baton(now, haste);
  leave();
  upcalls_.deliver();
  return done;
}

void Engine::renew_fault_guard() {
  if (drive_ != Drive::kThread || now_ < renew_guard_at_) return;
  renew_guard_at_ = now_ + kGuardInterval;
  base::install_fault_guard();
}

std::size_t Engine::turn_with_baton(base::Time now, Haste haste) {
  base::require_lock(locks::kBaton);
  now_ = std::max(now_, now);
  renew_fault_guard();
  // What was put off has waited long enough, whatever this turn brings.
  if (!due_later_.empty()) promote_with_baton();
  std::size_t done = due_now_.size();
  const std::size_t moved = carrier_->turn(now_);
  if (moved > 0 && carrier_->has_failed()) [[unlikely]]
    failure_watch_.tell();
  done += moved;
  if (!timers_.empty()) {
    baton_.stay();
    done += timers_.run(now_);
  }
  if (haste == Haste::kEager) promote_with_baton();
  if (finish_section_with_baton()) ++done;
  return done;
}

void Engine::promote_with_baton() {
  base::require_lock(locks::kBaton);
  while (!due_later_.empty()) {
    Task& task = due_later_.front();
    due_later_.pop_front();
    run_at_end(task);
  }
}

void Engine::run_at_end(Task& task) {
  base::require_lock(locks::kBaton);
  if (!task.due_now_.is_linked()) due_now_.push_back(task);
}

void Engine::run_next_turn(Task& task) {
  base::require_lock(locks::kBaton);
  if (!task.due_now_.is_linked() && !task.due_later_.is_linked()) due_later_.push_back(task);
}

void Engine::forgo_next_turn(Task& task) {
  base::require_lock(locks::kBaton);
  if (task.due_later_.is_linked()) due_later_.erase(due_later_.iterator_to(task));
}

void Engine::run_due_with_baton() {
  base::require_lock(locks::kBaton);
  while (!due_now_.empty()) {
    Task& task = due_now_.front();
    due_now_.pop_front();
    task.run_with_baton();
  }
}

bool Engine::finish_section_with_baton() {
  base::require_lock(locks::kBaton);
  bool has_run = false;
  for (; !due_now_.empty() || !doorbells_.is_empty(); has_run = true) {
    run_due_with_baton();
    if (!doorbells_.is_empty()) doorbells_.drain();
  }
  if (graveyard_) {
    baton_.stay();
    empty_graveyard();
  }
  const auto next = timers_.next().time_since_epoch().count();
  if (next != next_deadline_.load(std::memory_order_relaxed)) next_deadline_.store(next, std::memory_order_seq_cst);
  is_calm_.store(timers_.empty() && due_later_.empty(), std::memory_order_relaxed);
  return has_run;
}

// One by one: a chain that died as a whole would use up the stack.
void Engine::empty_graveyard() {
  while (graveyard_) graveyard_ = graveyard_->unchain();
}

void Engine::serve_late_ringers() {
  while (!doorbells_.is_empty() && baton_.try_take()) {
    finish_section_with_baton();
    baton_.leave();
    if (thread_) thread_->note_deadline();
  }
}

void Engine::let_go() {
  finish_section_with_baton();
  leave();
  if (!thread_) return;
  if (upcalls_.has_news()) thread_->kick();
  thread_->note_deadline();
}

void Engine::have_news_told() {
  if (thread_ && upcalls_.has_news()) thread_->kick();
}

void Engine::ring(Task& task) {
  if (baton_.try_take()) {
    task.run_with_baton();
    let_go();
    return;
  }
  doorbells_.ring(task);
  if (!baton_.try_take()) return;
  let_go();
}

void Engine::forget(Task& task) {
  // A task that was rung and has not run would stay in the list as a dangling link.
  if (!doorbells_.is_empty()) doorbells_.drain();
  if (task.due_now_.is_linked()) due_now_.erase(due_now_.iterator_to(task));
  forgo_next_turn(task);
}

void Engine::await_posters() {
  base::require_lock(locks::kBaton);
  for (Lane& lane : lanes_) const Lane::Hold hold(lane);
}

base::WakeReason Engine::sleep(base::EventCount& count, base::EventCount::Ticket ticket, base::Time deadline) {
  if (!thread_) return count.wait_cancellably(ticket, deadline);
  const base::Time start = base::Clock::now();
  const base::Time end = std::min(deadline, base::deadline_after(start, spin_.get()));
  while (!count.is_notified(ticket) && base::Clock::now() < end) {
    if (!progress()) base::pause_processor();
  }
  if (!count.is_notified(ticket)) thread_->hand_over();
  const base::WakeReason reason = count.wait_cancellably(ticket, deadline);
  if (reason == base::WakeReason::kNotified) spin_.learn(base::Clock::now() - start);
  return reason;
}

}  // namespace softdat::simnic
