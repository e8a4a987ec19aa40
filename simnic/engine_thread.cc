// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/engine_thread.h"

#include <pthread.h>
#include <sys/prctl.h>

#include <ctime>

#include "base/own_threads.h"
#include "simnic/engine.h"

namespace softdat::simnic {
namespace {

// The processor time of all threads of the process.
base::Duration processor_time() {
  timespec time = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

EngineThread::EngineThread(Engine& engine) : engine_(engine) {
  thread_ = base::start_own_thread([this] { run(); });
  ::pthread_setname_np(thread_.native_handle(), "softdat-engine");
}

EngineThread::~EngineThread() {
  // Stored before the kick, and read after it.
  is_ending_.store(true, std::memory_order_seq_cst);
  kick();
  thread_.join();
}

void EngineThread::run() {
  ::prctl(PR_SET_TIMERSLACK, 1UL);  // nanoseconds; by default the kernel lets a short sleep last 50 us longer
  bool was_aside = false;
  while (!is_ending()) {
    const std::size_t done = engine_.turn(base::Clock::now(), Haste::kPatient);
    // A consumer that this turn has woken may answer at once, and acks ride on its answer.
    if (done > 0) std::this_thread::yield();
    do_what_was_put_off();
    if (was_aside && done > 0 && has_watched_) plan_.note_late_message();
    if (is_ending()) return;
    was_aside = wait_for_work();
    if (was_aside) stand_aside();
  }
}

// Engine::Hold would read Engine::thread_, which the thread that makes or destroys the engine writes at that time.
void EngineThread::do_what_was_put_off() {
  engine_.take();
  engine_.promote_with_baton();
  engine_.finish_with_baton();
  engine_.leave();
  engine_.upcalls_.deliver();
}

std::uint64_t EngineThread::polls() const {
  return engine_.activity_.polls();
}

bool EngineThread::wait_for_work() {
  const std::uint64_t before = polls();
  polls_at_wait_.store(before, std::memory_order_relaxed);
  waits_.fetch_add(1, std::memory_order_relaxed);
  // Published before the next deadline is read, as a section publishes its deadline before it reads
  // this: a deadline that comes up now is seen here or there.
  waiting_until_.store(base::kNever.time_since_epoch().count(), std::memory_order_seq_cst);
  mode_.store(Mode::kWaiting, std::memory_order_seq_cst);
  const base::Time deadline = engine_.next_deadline();
  waiting_until_.store(deadline.time_since_epoch().count(), std::memory_order_seq_cst);
  // A kick that came before the mode was stored did not interrupt the carrier; it is seen here.
  const bool was_kicked = take_kick();
  if (!was_kicked) engine_.carrier_->wait(deadline);
  mode_.store(Mode::kTurning, std::memory_order_seq_cst);
  // Consumers polled all the while: they take in what comes, and packets need not wake this thread.
  return !was_kicked && polls() - before >= kBusyPolls;
}

// While consumers poll. Looks now and then whether they still do, and takes over when they stop (simnic/rest_plan.h).
void EngineThread::stand_aside() {
  mode_.store(Mode::kStandingAside, std::memory_order_seq_cst);
  RestPlan::Next next = RestPlan::Next::kRest;
  while (next != RestPlan::Next::kTakeOver) {
    if (next == RestPlan::Next::kRest) plan_.begin(base::Clock::now(), polls());
    if (next == RestPlan::Next::kPeek && engine_.peek()) plan_.note_late_message();
    next = sleep();
  }
  mode_.store(Mode::kTurning, std::memory_order_seq_cst);
}

// Until the time that the plan says, or until a kick.
RestPlan::Next EngineThread::sleep() {
  const auto ticket = rest_.prepare();
  if (take_kick()) {
    rest_.cancel();
    return RestPlan::Next::kTakeOver;
  }
  const base::Time begun = base::Clock::now();
  const base::Duration used = processor_time();
  const std::uint64_t calls = polls() + engine_.activity_.posts();
  engine_.activity_.count_posts(plan_.is_short());
  rest_.wait(ticket, plan_.wake_up_time(begun));
  if (take_kick()) return RestPlan::Next::kTakeOver;
  const base::Time now = base::Clock::now();
  const bool is_silent = polls() + engine_.activity_.posts() == calls;
  // The program computed for most of the sleep without a call of ours: it may watch registered memory for a peer's
  // write, so a message that comes late must be found soon (decision 31).
  has_watched_ = is_silent && processor_time() - used > (now - begun) / 2;
  return plan_.after_sleep(now, polls(), has_watched_);
}

// Store, then load the mode; the thread stores the mode and then takes the kick. So either is seen by the other.
void EngineThread::kick() {
  kicked_.store(true, std::memory_order_seq_cst);
  switch (mode_.load(std::memory_order_seq_cst)) {
    case Mode::kTurning:
      return;
    case Mode::kWaiting:
      return engine_.carrier_->interrupt();
    case Mode::kStandingAside:
      return rest_.notify();
  }
}

// The engine thread may still be on its way aside after kBusyPolls polls. It would rest there before its next turn.
void EngineThread::hand_over() {
  const bool is_aside = mode_.load(std::memory_order_seq_cst) == Mode::kStandingAside;
  if (is_aside || polls() - polls_at_wait_.load(std::memory_order_relaxed) >= kBusyPolls) kick();
}

// Called by pollers: a thread that waits in the carrier would be woken by each of their packets, so it is sent aside.
void EngineThread::end_wait_of_polled() {
  if (polls() - polls_at_wait_.load(std::memory_order_relaxed) < kBusyPolls) return;
  const std::uint64_t wait = waits_.load(std::memory_order_relaxed);
  // Once for each wait: an interrupt is a system call.
  if (interrupted_wait_.exchange(wait, std::memory_order_relaxed) == wait) return;
  engine_.carrier_->interrupt();
}

void EngineThread::note_deadline() {
  if (mode_.load(std::memory_order_seq_cst) != Mode::kWaiting) return;
  const auto next = engine_.next_deadline().time_since_epoch().count();
  // Pairs with wait_for_work(): both sides store their own word and then load the other's.
  if (next < waiting_until_.load(std::memory_order_seq_cst)) kick();
}

}  // namespace softdat::simnic
