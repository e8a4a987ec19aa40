// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/event_wait.h"

#include <algorithm>
#include <mutex>

#include "base/assert.h"
#include "libdat/object/cancellable_sleep.h"
#include "libdat/object/cno_trigger.h"
#include "libdat/object/event_queue.h"
#include "libdat/object/feeding_streams.h"
#include "libdat/object/refusal.h"
#include "libdat/object/timeout.h"

namespace softdat::object {
namespace {

// How long a wait looks before it sleeps: longer where looking paid off, shorter where it did not.
constexpr std::uint32_t kShortestSpinNs = 2'000;
constexpr std::uint32_t kLongestSpinNs = 50'000;

Status refuse_second_waiter() {
  return because(invalid_state(StatusDetail::kInvalidStateEvdWaiter),
                 [] { return std::string("another thread waits on the EVD, which takes one waiter at a time"); });
}

}  // namespace

// The claim of the one thread that may block. It leaves the EVD to others also when the thread is cancelled.
class EventWait::Claim {
 public:
  Claim(EventWait& wait, std::int32_t threshold)
      : wait_(wait), threshold_(threshold), is_owner_(!wait.has_waiter_.exchange(true)) {
    if (!is_owner_) return;
    wait.revocations_seen_ = wait.revocations_.load();
    if (threshold > 1) has_room_ = wait.queue_.begin_awaiting(threshold);
  }
  // What came after the last look was kept from the CNO although nobody will see it: told now.
  ~Claim() {
    if (!is_owner_) return;
    SOFTDAT_DEBUG_CHECK(wait_.has_waiter(), "the EVD stays claimed while its waiter lives");
    if (threshold_ > 1) wait_.queue_.end_awaiting();
    wait_.has_waiter_.store(false);
    if (wait_.was_notified_.load()) wait_.trigger_cno_unless_empty();
  }
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  bool is_owner() const { return is_owner_; }
  // Whether the queue is long enough, which it then remains.
  bool has_room() const { return has_room_; }

 private:
  EventWait& wait_;
  const std::int32_t threshold_;
  const bool is_owner_;
  bool has_room_ = true;
};

EventWait::EventWait(EventQueue& queue, const FeedingStreams& streams, CnoTrigger& cno_trigger, EventCounters& counters)
    : queue_(queue),
      streams_(streams),
      cno_trigger_(cno_trigger),
      counters_(counters),
      is_nasty_(queue.device().attributes().nasty != 0) {}

// A thread that waits is woken, and answers INVALID_STATE (dat_evd_set_unwaitable(3DAT)).
Status EventWait::set_unwaitable() {
  is_unwaitable_.store(true);
  revocations_.fetch_add(1);
  queue_.event_count().notify();
  return kOk;
}

Status EventWait::clear_unwaitable() {
  is_unwaitable_.store(false);
  return kOk;
}

// The EVD or its IA is being freed: a thread that waits answers DAT_ABORT.
void EventWait::close() {
  SOFTDAT_DEBUG_CHECK(!is_closed_.load(), "an EVD is closed once");
  is_closed_.store(true);
  queue_.event_count().notify();
}

void EventWait::unblock_waiter() {
  was_notified_.store(true);
  queue_.event_count().notify();
}

// The CNO is not triggered for an event that a waiter takes, nor for one that somebody has taken in the meantime. The
// waiter is asked for first: one that takes the event and leaves between the two looks has left nothing behind. What a
// waiter does not take it has triggered for itself when it leaves.
void EventWait::on_event(std::uint64_t number) {
  unblock_waiter();
  if (!has_waiter() && queue_.holds(number)) cno_trigger_.trigger();
}

// Completions have no numbers here.
void EventWait::on_completion() {
  unblock_waiter();
  trigger_cno_unless_empty();
}

void EventWait::trigger_cno_unless_empty() {
  if (!has_waiter() && queue_.size() > 0) cno_trigger_.trigger();
}

Status EventWait::wait(std::uint32_t timeout_us, std::int32_t threshold, Event& event, std::int32_t& nmore) {
  if (const Status status = check_wait(threshold); !status.ok()) return status;
  counters_.add(evd_counter::kWait);
  // Without blocking, while an event is there: this claims nothing, so threads may do so at the same time.
  if (threshold == 1 && (take(event) || (timeout_us == 0 && queue_.device().progress() && take(event)))) {
    nmore = count_left(threshold, queue_.size());
    return kOk;
  }
  if (threshold == 1 && timeout_us == 0) {  // a call that does not block is no waiter
    nmore = queue_.size();
    return timeout_expired();
  }
  const base::Time deadline = base::deadline_after(base::Clock::now(), duration_of(timeout_us));
  return wait_exclusively(deadline, threshold, event, nmore);
}

bool EventWait::take(Event& event) {
  const std::lock_guard lock(queue_.taking_lock());
  return queue_.take(event);
}

// For nmore of a wait that succeeds and leaves so many events. In nasty mode the snapshot is taken when the threshold
// is reached exactly, as if all others had come later.
std::int32_t EventWait::count_left(std::int32_t threshold, std::int32_t left) const {
  return is_nasty_ ? threshold - 1 : left;
}

Status EventWait::check_wait(std::int32_t threshold) const {
  if (threshold < 1 || threshold > queue_.length()) {
    return because(invalid_parameter(StatusDetail::kInvalidArg3), [&] {
      return "the threshold is " + std::to_string(threshold) + ", and the EVD holds " +
             count_text(queue_.length(), "event") + ", so 1 to " + std::to_string(queue_.length()) +
             " can be waited for";
    });
  }
  if (is_closed_.load()) return aborted();
  if (is_unwaitable_.load()) return invalid_state(StatusDetail::kInvalidStateEvdUnwaitable);
  if (has_waiter()) return refuse_second_waiter();
  if (threshold == 1) return kOk;
  switch (streams_.mode()) {
    case NotifyMode::kThreshold:
      return kOk;
    case NotifyMode::kUnsignalled:
      return invalid_state(StatusDetail::kInvalidStateEvdConfigNotify);
    case NotifyMode::kSolicited:
      return invalid_state(StatusDetail::kInvalidStateEvdConfigSolicited);
  }
  return kOk;
}

Status EventWait::wait_exclusively(base::Time deadline, std::int32_t threshold, Event& event, std::int32_t& nmore) {
  const Claim claim(*this, threshold);
  if (!claim.is_owner()) return refuse_second_waiter();
  if (!claim.has_room()) return invalid_parameter(StatusDetail::kInvalidArg3);
  base::WakeReason reason = base::WakeReason::kNotified;
  for (;;) {
    // Cleared before the queue is looked at, so no later completion is missed.
    was_notified_.store(false);
    // With such streams only some completions notify; the device must be asked for those.
    const NotifyMode mode = streams_.mode();
    if (mode != NotifyMode::kThreshold) streams_.arm();
    // A waiter that was woken takes what woke it, so that acks may ride on the program's answer.
    if (queue_.size() < threshold) queue_.device().progress();
    if (is_closed_.load()) return aborted();
    if (is_revoked()) return invalid_state(StatusDetail::kInvalidStateEvdUnwaitable);
    const std::int32_t size = queue_.size();
    const bool is_enough = size >= threshold && take(event);
    SOFTDAT_DEBUG_CHECK(threshold <= queue_.length(), "resize() leaves room for what a thread waits for",
                        static_cast<std::uint64_t>(threshold), static_cast<std::uint64_t>(queue_.length()));
    // nmore counts what was there when the threshold was reached: a thread that found no waiter before may still take
    // events.
    nmore = is_enough ? count_left(threshold, size - 1) : size;
    if (is_enough) return kOk;
    if (reason == base::WakeReason::kInterrupted) return interrupted_call();
    if (base::Clock::now() >= deadline) return timeout_expired();
    reason = await_news(deadline, threshold, mode);
  }
}

// A change of the mode is worth a look: under the new mode the device has to be asked to tell of completions.
bool EventWait::is_worth_waking(std::int32_t threshold, NotifyMode mode) const {
  if (is_closed_.load() || is_revoked() || streams_.mode() != mode) return true;
  return mode == NotifyMode::kThreshold ? queue_.size() >= threshold : was_notified_.load();
}

// Polls for a while, and then sleeps. A Sleeper counts as a waiter before the last look, so no wake-up is lost.
base::WakeReason EventWait::await_news(base::Time deadline, std::int32_t threshold, NotifyMode mode) {
  if (spin(deadline, threshold, mode)) return base::WakeReason::kNotified;
  for (;;) {
    Sleeper sleeper(queue_.event_count());
    if (is_worth_waking(threshold, mode)) return base::WakeReason::kNotified;
    counters_.add(evd_counter::kWaitBlocked);
    const base::WakeReason reason = sleeper.sleep(queue_.device(), deadline);
    if (reason == base::WakeReason::kNotified) counters_.add(evd_counter::kWaitNotify);
    if (reason != base::WakeReason::kNotified) return reason;
    if (is_worth_waking(threshold, mode)) return reason;
  }
}

// The time doubles when something came, and halves when nothing did.
bool EventWait::spin(base::Time deadline, std::int32_t threshold, NotifyMode mode) {
  const std::uint32_t patience = spin_ns_.load(std::memory_order_relaxed);
  const base::Time now = base::Clock::now();
  const base::Time end = std::min(deadline, now + std::chrono::nanoseconds(patience));
  do {
    queue_.device().progress();
    if (is_worth_waking(threshold, mode)) {
      spin_ns_.store(std::min(patience * 2, kLongestSpinNs), std::memory_order_relaxed);
      return true;
    }
  } while (base::Clock::now() < end);
  spin_ns_.store(std::max(patience / 2, kShortestSpinNs), std::memory_order_relaxed);
  return false;
}

}  // namespace softdat::object
