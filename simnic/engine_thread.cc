// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/engine_thread.h"

#include <pthread.h>
#include <sys/prctl.h>

#include <ctime>
#include <utility>

#include "base/own_threads.h"
#include "simnic/engine.h"

namespace softdat::simnic {
namespace {

// A lead that lasts for as many rests makes the engine thread park.
constexpr std::uint32_t kRestsUntilParked = 4;
// Must exceed the longest wait of a carrier (transport/carrier.h): each wait has a lead of its own.
constexpr base::Duration kLongestLead = std::chrono::seconds(3);

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
  engine_.carrier_->warm_up();
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

// By the thread that is about to wait in the carrier. Returns how many polls there were before.
std::uint64_t EngineThread::note_wait() {
  const std::uint64_t before = polls();
  polls_at_wait_.store(before, std::memory_order_relaxed);
  waits_.fetch_add(1, std::memory_order_relaxed);
  is_waited_.store(true, std::memory_order_relaxed);
  return before;
}

bool EngineThread::wait_for_work() {
  if (is_led()) return !take_kick();
  const std::uint64_t before = note_wait();
  mode_.store(Mode::kWaiting, std::memory_order_seq_cst);
  const base::Time deadline = publish_deadline();
  // A kick or a lead that came before the mode was stored did not interrupt the carrier; it is seen here.
  const bool was_kicked = take_kick();
  const bool has_waited = !was_kicked && !is_led();
  if (has_waited) engine_.carrier_->wait(deadline);
  if (!is_led()) is_waited_.store(false, std::memory_order_relaxed);
  mode_.store(Mode::kTurning, std::memory_order_seq_cst);
  wait_ended_.notify();
  const bool is_polled = polls() - before >= kBusyPolls;
  if (has_waited && !is_polled) was_polled_.store(false, std::memory_order_relaxed);
  // Consumers polled all the while, or one leads: they take in what comes, and packets need not wake this thread.
  return !was_kicked && (is_led() || is_polled);
}

// While consumers poll. Looks now and then whether they still do, and takes over when they stop (simnic/rest_plan.h).
void EngineThread::stand_aside() {
  mode_.store(Mode::kStandingAside, std::memory_order_seq_cst);
  RestPlan::Next next = RestPlan::Next::kRest;
  while (next != RestPlan::Next::kTakeOver) {
    if (next == RestPlan::Next::kRest) begin_rest();
    if (next == RestPlan::Next::kPeek && engine_.peek()) plan_.note_late_message();
    next = sleep();
  }
  mode_.store(Mode::kTurning, std::memory_order_seq_cst);
}

// The rests are shorter while threads lead. Acks that a leader's turn has put off leave here at the latest.
void EngineThread::begin_rest() {
  const std::uint64_t leads = leads_.load(std::memory_order_relaxed);
  const bool is_same = is_led() && leads == known_leads_;
  rests_of_lead_ = is_same ? rests_of_lead_ + 1 : 0;
  const bool are_leads = is_same || leads != known_leads_;
  known_leads_ = leads;
  if (are_leads) do_what_was_put_off();
  plan_.begin(base::Clock::now(), activity(), are_leads ? RestPlan::kRestOfLead : RestPlan::kRest);
}

// Until the time that the plan says, or until a kick.
RestPlan::Next EngineThread::sleep() {
  const auto ticket = rest_.prepare();
  if (take_kick()) {
    rest_.cancel();
    return RestPlan::Next::kTakeOver;
  }
  if (rests_of_lead_ >= kRestsUntilParked) return sleep_while_led(ticket);
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
  const RestPlan::Next next = plan_.after_sleep(now, activity(), has_watched_);
  return next == RestPlan::Next::kTakeOver && is_led() ? RestPlan::Next::kRest : next;
}

// Parks until the leader ends, so that an idle process does not wake for rests. The time limit is for a lost lead: a
// signal handler of the program may jump out of the wait.
RestPlan::Next EngineThread::sleep_while_led(base::EventCount::Ticket ticket) {
  rests_of_lead_ = 0;
  is_parked_.store(true, std::memory_order_seq_cst);
  // Must follow the store: turns put nothing off while this thread is parked (is_standing_aside).
  do_what_was_put_off();
  if (is_led()) {
    rest_.wait(ticket, base::deadline_after(base::Clock::now(), kLongestLead));
  } else {
    rest_.cancel();
  }
  is_parked_.store(false, std::memory_order_seq_cst);
  if (take_kick()) return RestPlan::Next::kTakeOver;
  return is_lead_lost() ? RestPlan::Next::kTakeOver : RestPlan::Next::kRest;
}

// A lead is lost if it lasts for kLongestLead twice. The interrupt in between ends the wait of a leader that is alive
// but had no processor.
bool EngineThread::is_lead_lost() {
  if (!is_led() || leads_.load(std::memory_order_relaxed) != known_leads_) return false;
  if (std::exchange(suspected_lead_, known_leads_) != known_leads_) {
    engine_.carrier_->interrupt();
    return false;
  }
  is_led_.store(false, std::memory_order_seq_cst);
  return true;
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

// Called by pollers: a thread that waits in the carrier would be woken by each of their packets, so it is sent aside.
void EngineThread::end_wait_of_polled() {
  if (!is_polled()) return;
  const std::uint64_t wait = waits_.load(std::memory_order_relaxed);
  // Once for each wait: an interrupt is a system call.
  if (interrupted_wait_.exchange(wait, std::memory_order_relaxed) == wait) return;
  engine_.carrier_->interrupt();
}

void EngineThread::note_deadline() {
  const bool is_waiting = mode_.load(std::memory_order_seq_cst) == Mode::kWaiting;
  if (!is_waiting && !is_led()) return;
  const auto next = engine_.next_deadline().time_since_epoch().count();
  // Pairs with publish_deadline(): both sides store their own word and then load the other's.
  if (next >= waiting_until_.load(std::memory_order_seq_cst)) return;
  is_waiting ? kick() : engine_.carrier_->interrupt();
}

// Must be called after mode_ or is_led_ was stored, which note_deadline() looks at first.
base::Time EngineThread::publish_deadline() {
  // A deadline that comes up before the second store is seen here, or its section sees this and ends the wait.
  waiting_until_.store(base::kNever.time_since_epoch().count(), std::memory_order_seq_cst);
  const base::Time deadline = engine_.next_deadline();
  waiting_until_.store(deadline.time_since_epoch().count(), std::memory_order_seq_cst);
  return deadline;
}

bool EngineThread::begin_lead() {
  if (followers_.load(std::memory_order_seq_cst) != 0 || was_polled_.load(std::memory_order_relaxed) ||
      !engine_.carrier_->can_wait_cancellably())
    return false;
  if (mode_.load(std::memory_order_seq_cst) == Mode::kWaiting && !may_end_wait()) return false;
  if (is_led_.exchange(true, std::memory_order_seq_cst)) return false;
  leads_.fetch_add(1, std::memory_order_relaxed);
  end_wait_of_engine_thread();
  note_wait();
  return true;
}

// Ending the engine thread's wait costs a wake-up. That pays if the program sleeps often.
bool EngineThread::may_end_wait() const {
  const base::Time last{base::Duration(sleep_end_.load(std::memory_order_relaxed))};
  return base::Clock::now() - last < RestPlan::kRestOfLead;
}

// REQUIRES: the lead. When it returns, the engine thread is not in the carrier's wait, and will not enter it.
void EngineThread::end_wait_of_engine_thread() {
  while (mode_.load(std::memory_order_seq_cst) == Mode::kWaiting) {
    const auto ticket = wait_ended_.prepare();
    engine_.carrier_->interrupt();
    if (mode_.load(std::memory_order_seq_cst) == Mode::kWaiting) {
      wait_ended_.wait(ticket, base::kNever);
    } else {
      wait_ended_.cancel();
    }
  }
}

void EngineThread::end_lead() {
  note_sleep_end();
  is_waited_.store(false, std::memory_order_relaxed);
  if (is_polled()) was_polled_.store(true, std::memory_order_relaxed);
  is_led_.store(false, std::memory_order_seq_cst);
  if (followers_.load(std::memory_order_seq_cst) != 0) return kick();
  if (is_parked_.load(std::memory_order_seq_cst)) rest_.notify();
}

void EngineThread::begin_following() {
  followers_.fetch_add(1, std::memory_order_seq_cst);
  if (is_led()) return;
  const bool is_aside = mode_.load(std::memory_order_seq_cst) == Mode::kStandingAside;
  // After kBusyPolls polls the engine thread may still be on its way aside. It would rest there before its next turn.
  if (is_aside || is_polled()) kick();
}

void EngineThread::end_following() {
  note_sleep_end();
  followers_.fetch_sub(1, std::memory_order_relaxed);
}

void EngineThread::note_sleep_end() {
  sleep_end_.store(base::Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
}

}  // namespace softdat::simnic
