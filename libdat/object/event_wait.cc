// SPDX-License-Identifier: BSD-2-Clause
// dat_evd_wait. One thread at a time owns the EVD while it blocks.
//
// Who pairs with whom: whoever adds an event (ring, completion queue), closes the EVD or makes it
// unwaitable stores that first and calls wake_->notify() then; the waiter calls wake_->prepare()
// first and looks at all of it then, so one of the two sees the other. has_waiter_ keeps other
// consumers out and the CNO quiet; was_notified_ says that something came that is worth unblocking
// for, which matters when not every completion is.
#include <algorithm>

#include "base/assert.h"
#include "libdat/object/cancellable_sleep.h"
#include "libdat/object/event_dispatcher.h"
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

// The claim of the one thread that may block.
class EventDispatcher::Waiter {
 public:
  Waiter(EventDispatcher& evd, std::int32_t threshold) : evd_(evd), threshold_(threshold) {
    if (threshold == 1) {
      is_owner_ = !evd.has_waiter_.exchange(true);
    } else {
      claim_with_threshold();
    }
  }
  // What came after the last look was kept from the CNO although nobody will see it: told now.
  ~Waiter() {
    if (!is_owner_) return;
    SOFTDAT_DEBUG_CHECK(evd_.has_waiter_.load(), "the EVD stays claimed while its waiter lives");
    if (threshold_ > 1) {
      const std::lock_guard lock(evd_.resize_mutex_);
      evd_.awaited_ = 0;
    }
    evd_.has_waiter_.store(false);
    if (evd_.was_notified_.load()) evd_.trigger_cno_unless_empty();
  }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  bool is_owner() const { return is_owner_; }
  // Whether the queue is long enough, which it then remains.
  bool has_room() const { return has_room_; }

 private:
  void claim_with_threshold() {
    const std::lock_guard lock(evd_.resize_mutex_);
    is_owner_ = !evd_.has_waiter_.exchange(true);
    SOFTDAT_DEBUG_CHECK(!is_owner_ || evd_.awaited_ == 0, "events are awaited while there is a waiter only");
    has_room_ = threshold_ <= evd_.qlen();
    if (is_owner_ && has_room_) evd_.awaited_ = threshold_;
  }

  EventDispatcher& evd_;
  const std::int32_t threshold_;
  bool is_owner_ = false;
  bool has_room_ = true;
};

Status EventDispatcher::wait(std::uint32_t timeout_us, std::int32_t threshold, Event& event, std::int32_t& nmore) {
  if (const Status status = check_wait(threshold); !status.ok()) return status;
  counters_.add(evd_counter::kWait);
  if (threshold == 1 && (take(event) || (timeout_us == 0 && device_->progress() && take(event)))) {
    nmore = count_left(threshold);
    return kOk;
  }
  if (threshold == 1 && timeout_us == 0) {  // who does not block claims nothing
    nmore = count();
    return timeout_expired();
  }
  const base::Time deadline = base::deadline_after(base::Clock::now(), duration_of(timeout_us));
  return wait_exclusively(deadline, threshold, event, nmore);
}

// For nmore of a wait that succeeds. In nasty mode the snapshot is taken when the threshold is reached exactly, as if
// all others had come later.
std::int32_t EventDispatcher::count_left(std::int32_t threshold) const {
  if (is_nasty_) [[unlikely]]
    return threshold - 1;
  return count();
}

Status EventDispatcher::check_wait(std::int32_t threshold) const {
  if (threshold < 1 || threshold > qlen()) {
    return because(invalid_parameter(StatusDetail::kInvalidArg3), [&] {
      return "the threshold is " + std::to_string(threshold) + ", and the EVD holds " + count_text(qlen(), "event") +
             ", so 1 to " + std::to_string(qlen()) + " can be waited for";
    });
  }
  if (is_closing_.load()) return aborted();
  if (is_unwaitable_.load()) return invalid_state(StatusDetail::kInvalidStateEvdUnwaitable);
  if (has_waiter_.load()) return refuse_second_waiter();
  if (threshold == 1) return kOk;
  switch (mode_.load()) {
    case NotifyMode::kThreshold:
      return kOk;
    case NotifyMode::kUnsignalled:
      return invalid_state(StatusDetail::kInvalidStateEvdConfigNotify);
    case NotifyMode::kSolicited:
      return invalid_state(StatusDetail::kInvalidStateEvdConfigSolicited);
  }
  return kOk;
}

Status EventDispatcher::wait_exclusively(base::Time deadline, std::int32_t threshold, Event& event,
                                         std::int32_t& nmore) {
  const Waiter waiter(*this, threshold);
  if (!waiter.is_owner()) return refuse_second_waiter();
  if (!waiter.has_room()) return invalid_parameter(StatusDetail::kInvalidArg3);
  base::WakeReason reason = base::WakeReason::kNotified;
  for (;;) {
    was_notified_.store(false);
    if (mode_.load() != NotifyMode::kThreshold) arm();
    device_->progress();
    if (is_closing_.load()) return aborted();
    if (is_unwaitable_.load()) return invalid_state(StatusDetail::kInvalidStateEvdUnwaitable);
    const bool is_enough = count() >= threshold && take(event);
    SOFTDAT_DEBUG_CHECK(threshold <= qlen(), "resize() leaves room for what a thread waits for",
                        static_cast<std::uint64_t>(threshold), static_cast<std::uint64_t>(qlen()));
    nmore = is_enough ? count_left(threshold) : count();
    if (is_enough) return kOk;
    if (reason == base::WakeReason::kInterrupted) return interrupted_call();
    if (base::Clock::now() >= deadline) return timeout_expired();
    reason = await_news(deadline, threshold);
  }
}

bool EventDispatcher::is_worth_waking(std::int32_t threshold) const {
  if (must_leave()) return true;
  if (mode_.load() == NotifyMode::kThreshold) return count() >= threshold;
  return was_notified_.load();
}

base::WakeReason EventDispatcher::await_news(base::Time deadline, std::int32_t threshold) {
  if (spin(deadline, threshold)) return base::WakeReason::kNotified;
  for (;;) {
    Sleeper sleeper(*wake_);
    if (is_worth_waking(threshold)) return base::WakeReason::kNotified;
    counters_.add(evd_counter::kWaitBlocked);
    const base::WakeReason reason = sleeper.sleep(*device_, deadline);
    if (reason == base::WakeReason::kNotified) counters_.add(evd_counter::kWaitNotify);
    if (reason != base::WakeReason::kNotified) return reason;
    if (is_worth_waking(threshold)) return reason;
  }
}

bool EventDispatcher::spin(base::Time deadline, std::int32_t threshold) {
  const std::uint32_t patience = spin_ns_.load(std::memory_order_relaxed);
  const base::Time now = base::Clock::now();
  const base::Time end = std::min(deadline, now + std::chrono::nanoseconds(patience));
  do {
    device_->progress();
    if (is_worth_waking(threshold)) {
      spin_ns_.store(std::min(patience * 2, kLongestSpinNs), std::memory_order_relaxed);
      return true;
    }
  } while (base::Clock::now() < end);
  spin_ns_.store(std::max(patience / 2, kShortestSpinNs), std::memory_order_relaxed);
  return false;
}

}  // namespace softdat::object
