// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/engine.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/assert.h"
#include "base/pause.h"
#include "simnic/engine_thread.h"
#include "simnic/lock_places.h"

namespace softdat::simnic {
namespace {

// These two end in their destructors, because a thread that is cancelled in its sleep is unwound.
class Leading {
 public:
  Leading(EngineThread& thread, base::EventCount& count, base::OtherSleep& sleep) : thread_(thread), count_(count) {
    count_.name_other_sleep(&sleep);
  }
  ~Leading() {
    count_.name_other_sleep(nullptr);
    thread_.end_lead();
  }
  Leading(const Leading&) = delete;
  Leading& operator=(const Leading&) = delete;

 private:
  EngineThread& thread_;
  base::EventCount& count_;
};

class Following {
 public:
  explicit Following(EngineThread& thread) : thread_(thread) { thread_.begin_following(); }
  ~Following() { thread_.end_following(); }
  Following(const Following&) = delete;
  Following& operator=(const Following&) = delete;

 private:
  EngineThread& thread_;
};

}  // namespace

Engine::Engine(std::unique_ptr<transport::Carrier> carrier, Drive drive)
    : drive_(drive),
      carrier_(std::move(carrier)),
      watch_words_(carrier_->watch_words()),
      clock_(drive == Drive::kByHand) {
  if (drive_ == Drive::kThread) thread_ = std::make_unique<EngineThread>(*this);
}

Engine::~Engine() {
  // The thread first: it uses everything else.
  thread_.reset();
  base::check(!is_held(), "nobody uses a dying engine");
  empty_graveyard();
}

// Something may be put off only while the engine thread is sure to look again soon: while it stands aside. It cannot
// come back to waiting without a turn of its own after ours.
Haste Engine::poll_haste() const {
  return thread_ && thread_->is_standing_aside() ? Haste::kPatient : Haste::kEager;
}

bool Engine::progress(const void* queue) {
  if (is_empty_poll()) return false;
  return leader_.may_pass(queue) ? tell_news() : progress_with_baton(Yield::kIfInVain);
}

// Looks at what peers have written. Makes a turn instead if it is time to look at the clock, if a timer is set, or if
// the carrier has more to do.
[[gnu::always_inline]] inline Engine::Polled Engine::poll_with_baton() {
  base::require_lock(locks::kBaton);
  const std::uint64_t poll = activity_.count_poll();
  if (ProgramActivity::is_clock_poll(poll) || has_timers()) [[unlikely]]
    return turn_in_poll(poll);
  const auto [done, takes_turn, asks_kernel] = carrier_->look();
  leader_.note_kernel_look(asks_kernel);
  if (takes_turn) return turn_in_poll(poll);
  // Acks wait for a message to ride on until a poll finds nothing (decision 3).
  const bool is_ack_due = has_put_off() && (done == 0 || poll_haste() == Haste::kEager);
  if (is_ack_due) promote_with_baton();
  if (done > 0) clock_.note_done();
  if (has_nothing_due()) [[likely]] {
    SOFTDAT_DEBUG_CHECK(next_deadline() == base::kNever, "an engine without timers has no deadline");
    note_calm();
    return {done, End::kBrief};
  }
  finish_with_baton();
  return {done, End::kWhole};
}

[[gnu::noinline]] Engine::Polled Engine::turn_in_poll(std::uint64_t poll) {
  const std::size_t done = turn_with_baton(clock_.time_of(poll), poll_haste());
  return {done, clock_.should_yield(poll, done) ? End::kInVain : End::kWhole};
}

// A section that only looked has set no timer, so the engine thread needs no look at its deadline.
inline void Engine::end_poll(End end) {
  const bool has_served = leave();
  if (thread_) thread_->note_polls();
  if (end == End::kBrief && !has_served) return;
  if (thread_) thread_->note_deadline();
}

// Does nothing while another thread has the baton.
[[gnu::noinline]] bool Engine::progress_with_baton(Yield yield) {
  Polled polled;
  if (try_take()) {
    polled = poll_with_baton();
    end_poll(polled.end);
  }
  const bool is_told = tell_news();
  if (yield == Yield::kIfInVain && polled.end == End::kInVain) [[unlikely]]
    std::this_thread::yield();
  return is_told || polled.done > 0;
}

// As progress_with_baton(), and takes a completion of `queue`.
[[gnu::noinline]] hca::Device::Found Engine::take_by_progress(CompletionQueue& queue, hca::Completion& out) {
  using enum hca::Device::Found;
  // Another queue's polls ask the kernel, or another thread has the baton: what has come is taken in for all queues.
  if (leader_.may_pass(&queue) || !try_take()) return tell_news() && queue.take(out) ? kByProgress : kNothing;
  // The first completion for this queue goes straight to `out`, without a way through the ring.
  queue.claim(out);
  const Polled polled = poll_with_baton();
  const bool is_taken = queue.end_claim();
  end_poll(polled.end);
  const bool is_told = tell_news();
  if (is_taken) {
    queue.settle(out);
    return kByProgress;
  }
  if ((is_told || polled.done > 0) && queue.take(out)) return kByProgress;
  return polled.end == End::kInVain ? kInVain : kNothing;
}

void Engine::catch_up() {
  if (drive_ == Drive::kByHand || !try_take()) return;
  if (turn_with_baton(clock_.time_of(activity_.count_poll()), poll_haste()) > 0) clock_.note_done();
  let_go();
}

// The engine thread calls it, so nobody waits for the deadline meanwhile; turn() likewise, or time is driven by hand.
bool Engine::peek() {
  if (!try_take()) return false;
  const std::size_t done = turn_with_baton(base::Clock::now(), Haste::kEager);
  leave();
  upcalls_.deliver();
  return done > 0;
}

std::size_t Engine::turn(base::Time now, Haste haste) {
  take();
  const std::size_t done = turn_with_baton(now, haste);
  leave();
  upcalls_.deliver();
  return done;
}

std::size_t Engine::turn_with_baton(base::Time now, Haste haste) {
  base::require_lock(locks::kBaton);
  clock_.advance(now);
  if (drive_ == Drive::kThread) guard_renewal_.renew(clock_.last_turn());
  // Acks that were put off have waited long enough, whatever this turn brings.
  if (has_put_off()) promote_with_baton();
  std::size_t done = count_due();
  // Before the timers, so that an answer that came in time beats its timeout.
  const std::size_t moved = carrier_->turn(clock_.last_turn());
  // The carrier has failed: the program has closed its descriptors, say. The device's sinks hear of it once.
  if (moved > 0 && carrier_->has_failed()) [[unlikely]]
    failure_watch_.tell();
  done += moved + run_timers(clock_.last_turn());
  if (haste == Haste::kEager) promote_with_baton();
  if (finish_with_baton()) ++done;
  return done;
}

void Engine::let_go() {
  finish_with_baton();
  leave();
  if (!thread_) return;
  // A caller of let_go() may hold locks that the sink wants, so the engine thread delivers (decision 3).
  if (upcalls_.has_news()) thread_->kick();
  thread_->note_deadline();
}

void Engine::have_news_told() {
  if (thread_ && upcalls_.has_news()) thread_->kick();
}

void Engine::ring(Task& task) {
  if (try_take()) {
    task.run_with_baton();
    let_go();
    return;
  }
  // The holder looks at the list after it has given the baton away. A second try closes the gap in which it had looked
  // already.
  ring_holder(task);
  if (!try_take()) return;
  let_go();
}

base::WakeReason Engine::sleep(base::EventCount& count, base::EventCount::Ticket ticket, base::Time deadline) {
  if (!thread_) return count.wait_cancellably(ticket, deadline);
  const base::Time start = base::Clock::now();
  // A short spin first: waking from the futex costs more than many answers take.
  const base::Time end = std::min(deadline, base::deadline_after(start, spin_.get()));
  while (!count.is_notified(ticket) && base::Clock::now() < end) {
    if (!progress()) base::pause_processor();
  }
  const base::WakeReason reason = sleep_now(count, ticket, deadline);
  if (reason == base::WakeReason::kNotified) spin_.learn(base::Clock::now() - start);
  return reason;
}

// This thread polls no longer, so it or the engine thread must wait for packets.
base::WakeReason Engine::sleep_now(base::EventCount& count, base::EventCount::Ticket ticket, base::Time deadline) {
  if (count.is_notified(ticket)) return count.wait_cancellably(ticket, deadline);
  return thread_->begin_lead() ? lead(count, ticket, deadline) : follow(count, ticket, deadline);
}

// Sleeps in the carrier, and then makes a turn for what has arrived. kNotified: the caller looks whether its event is
// there.
base::WakeReason Engine::lead(base::EventCount& count, base::EventCount::Ticket ticket, base::Time deadline) {
  base::WakeReason reason = base::WakeReason::kNotified;
  {
    const Leading leading(*thread_, count, *this);
    if (!is_calm()) {
      const Hold hold(*this);
      promote_with_baton();  // acks must not wait for the end of the sleep
    }
    const base::Time latest = std::min(deadline, thread_->publish_deadline());
    if (!count.is_notified(ticket)) reason = carrier_->wait_cancellably(latest);
  }
  count.cancel();
  if (reason == base::WakeReason::kInterrupted) return reason;
  turn(base::Clock::now(), poll_haste());
  thread_->note_deadline();
  return base::Clock::now() < deadline ? base::WakeReason::kNotified : base::WakeReason::kTimedOut;
}

// The engine thread, or a thread that leads, waits for packets meanwhile.
base::WakeReason Engine::follow(base::EventCount& count, base::EventCount::Ticket ticket, base::Time deadline) {
  const Following following(*thread_);
  return count.wait_cancellably(ticket, deadline);
}

}  // namespace softdat::simnic
