// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/consumer_notification.h"

#include <algorithm>
#include <atomic>

#include "base/assert.h"
#include "libdat/object/cancellable_sleep.h"
#include "libdat/object/handle_words.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/object/refusal.h"
#include "libdat/object/timeout.h"
#include "libdat/object/users_words.h"

namespace softdat::object {
namespace {

// How long a wait polls before it sleeps.
constexpr auto kSpin = std::chrono::microseconds(20);

}  // namespace

// Counted until the wait ends, also by cancellation: meanwhile free() answers INVALID_STATE (dat_cno_free(3DAT)).
class ConsumerNotification::Waiter {
 public:
  explicit Waiter(ConsumerNotification& cno) : cno_(cno) {
    std::lock_guard lock(cno_.mutex_);
    ++cno_.waiters_;
    epoch_ = cno_.epoch_;
  }
  ~Waiter() {
    std::lock_guard lock(cno_.mutex_);
    SOFTDAT_DEBUG_CHECK(cno_.waiters_ > 0, "a CNO counts each of its waiters");
    --cno_.waiters_;
  }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  // The CNO's epoch when the wait began.
  std::uint64_t epoch() const { return epoch_; }

 private:
  ConsumerNotification& cno_;
  std::uint64_t epoch_;
};

ConsumerNotification::ConsumerNotification(InterfaceAdapter& ia) : Object(kKind, &ia) {
  static std::atomic<std::uint64_t> made{0};  // in nasty mode
  const std::uint64_t seed = ia.device().attributes().nasty;
  if (seed != 0) nasty_ = std::make_unique<NastyHints>(seed, made.fetch_add(1, std::memory_order_relaxed));
}

Status ConsumerNotification::create(InterfaceAdapter& ia, WaitAgent agent, Handle& cno) {
  const std::shared_ptr<ConsumerNotification> self(new ConsumerNotification(ia));
  Adoption adoption(ia, self);
  if (!adoption.status().ok()) return adoption.status();
  if (const Status status = self->modify_agent(agent); !status.ok()) return status;
  cno = adoption.publish();
  return kOk;
}

Status ConsumerNotification::create_with_descriptor(InterfaceAdapter& ia, int& descriptor, Handle& cno) {
  const std::shared_ptr<ConsumerNotification> self(new ConsumerNotification(ia));
  Adoption adoption(ia, self);
  if (!adoption.status().ok()) return adoption.status();
  if (const Status status = self->descriptor_.open(); !status.ok()) return status;
  descriptor = self->descriptor_.number();
  cno = adoption.publish();
  return kOk;
}

Status ConsumerNotification::free(Pin<ConsumerNotification> cno) {
  bool is_in_use = false;
  std::int64_t waiters = 0;
  {
    std::lock_guard lock(cno->mutex_);
    if (cno->is_closed_) return invalid_handle(StatusDetail::kInvalidHandleCno);
    is_in_use = !cno->evds_.empty() || cno->waiters_ > 0;
    waiters = cno->waiters_;
    cno->is_closed_ = !is_in_use;
    if (!is_in_use) cno->associate_locked({});  // only the end of the IA or of the EVDs is told to an agent
  }
  if (is_in_use) {
    // An EVD has its own lock first, and ours then.
    return because(invalid_state(StatusDetail::kInvalidStateCnoInUse), [&] { return in_use_text(*cno, waiters); });
  }
  const bool was_open = HandleTable::instance().close(as_object(std::move(cno)));
  return was_open ? kOk : invalid_handle(StatusDetail::kInvalidHandleCno);
}

void ConsumerNotification::check_locked() const {
  base::require_lock(locks::kConsumerNotification);
  SOFTDAT_DEBUG_CHECK(waiters_ >= 0, "waiters are counted once", static_cast<std::uint64_t>(waiters_));
  SOFTDAT_DEBUG_CHECK(hint_ == nullptr || is_triggered_, "a hint belongs to a trigger that waits");
  SOFTDAT_DEBUG_CHECK(agent_.function == nullptr || !descriptor_.is_open(), "a CNO has an agent or a descriptor");
  SOFTDAT_DEBUG_CHECK(epoch_ > 0 || !is_closed_ || evds_.empty(), "a CNO in use is closed with all waiters unblocked");
}

// Runs before close() waits for pins, which the waiters hold.
void ConsumerNotification::on_closing() {
  std::lock_guard lock(mutex_);
  is_closed_ = true;
  unblock_all_locked();
  check_locked();
}

void ConsumerNotification::unblock_all_locked() {
  base::require_lock(locks::kConsumerNotification);
  ++epoch_;
  // A program that polls the descriptor does not block here, so the trigger is kept for it.
  is_triggered_ = descriptor_.is_open();
  descriptor_.raise();
  hint_ = nullptr;
  call_agent_locked(nullptr);
  wake_.notify();
}

void ConsumerNotification::call_agent_locked(Handle evd) {
  base::require_lock(locks::kConsumerNotification);
  if (agent_.function == nullptr) return;
  ia().call_agent(agent_, evd);
  agent_ = {};
}

Status ConsumerNotification::modify_agent(WaitAgent agent) {
  if (agent.function != nullptr) {
    // Reserved first, because trigger() must not fail.
    if (const Status status = ia().reserve_agent_call(); !status.ok()) return status;
  }
  std::lock_guard lock(mutex_);
  if (agent.function != nullptr && descriptor_.is_open()) {
    ia().release_agent_call();
    return invalid_parameter(StatusDetail::kInvalidArg2);
  }
  associate_locked(agent);
  check_locked();
  return kOk;
}

void ConsumerNotification::associate_locked(WaitAgent agent) {
  base::require_lock(locks::kConsumerNotification);
  if (agent_.function != nullptr) ia().release_agent_call();
  agent_ = agent;
}

ConsumerNotificationParameters ConsumerNotification::query() const {
  std::lock_guard lock(mutex_);
  return {ia_handle(), agent_, descriptor_.number()};
}

void ConsumerNotification::trigger(Handle evd) {
  std::lock_guard lock(mutex_);
  check_locked();
  if (is_closed_) return;
  is_triggered_ = true;
  hint_ = nasty_ == nullptr ? evd : nasty_->misname(evd, evds_);
  descriptor_.raise();
  call_agent_locked(hint_);
  wake_.notify();
}

bool ConsumerNotification::add_evd(Handle evd) {
  std::lock_guard lock(mutex_);
  if (is_closed_) return false;
  evds_.push_back(evd);
  return true;
}

void ConsumerNotification::remove_evd(Handle evd, bool is_freed) {
  std::lock_guard lock(mutex_);
  const auto left = std::find(evds_.begin(), evds_.end(), evd);
  base::check(left != evds_.end(), "an EVD leaves a CNO that it joined");
  evds_.erase(left);
  // The handle of a freed EVD must not be told, and null would say that all have gone.
  if (hint_ == evd && is_freed) hint_ = any_evd_locked();
  if (evds_.empty() && is_freed) unblock_all_locked();
  check_locked();
}

// Null: there is none.
Handle ConsumerNotification::any_evd_locked() const {
  base::require_lock(locks::kConsumerNotification);
  if (nasty_ != nullptr) return nasty_->any(evds_);
  return evds_.empty() ? nullptr : evds_.front();
}

Status ConsumerNotification::wait(std::uint32_t timeout_us, Handle& evd) {
  const base::Time deadline = base::deadline_after(base::Clock::now(), duration_of(timeout_us));
  const Waiter waiter(*this);
  base::WakeReason reason = base::WakeReason::kNotified;
  for (;;) {
    // A CNO has no queue. A waiter moves the device, whose sinks trigger the CNO.
    ia().device().progress();
    if (take_trigger(waiter.epoch(), evd)) return kOk;
    if (reason == base::WakeReason::kInterrupted) return interrupted_call();
    if (base::Clock::now() >= deadline) {
      evd = nullptr;
      return timeout_us == 0 ? queue_empty(true) : nothing_came();
    }
    reason = await_news(deadline, waiter.epoch());
  }
}

// Without an EVD nothing can ever come.
Status ConsumerNotification::nothing_came() const {
  {
    const std::lock_guard lock(mutex_);
    if (!evds_.empty()) return queue_empty(true);
  }
  return because(queue_empty(true), [&] {
    return object_text(*this) +
           " has no EVD, so nothing can trigger it; give it to dat_evd_create, or to dat_evd_modify_cno";
  });
}

// A trigger wakes everybody, and is taken by the first.
bool ConsumerNotification::take_trigger(std::uint64_t epoch, Handle& evd) {
  std::lock_guard lock(mutex_);
  // All EVDs or the IA have gone: DAT_SUCCESS with a null EVD (dat_cno_wait(3DAT)).
  if (epoch_ != epoch || is_closed_) {
    evd = nullptr;
    return true;
  }
  if (!is_triggered_) return false;
  evd = take_hint_locked();
  return true;
}

Handle ConsumerNotification::take_hint_locked() {
  check_locked();
  if (nasty_ != nullptr && echoes_locked()) return std::exchange(hint_, any_evd_locked());
  is_triggered_ = false;
  descriptor_.lower();
  return std::exchange(hint_, nullptr);
}

// Whether the trigger that is being taken is to come once more.
bool ConsumerNotification::echoes_locked() {
  base::require_lock(locks::kConsumerNotification);
  return is_triggered_ && hint_ != nullptr && nasty_->take_echo(evds_);
}

Status ConsumerNotification::take_trigger_of_descriptor(Handle& evd) {
  ia().device().progress();
  std::lock_guard lock(mutex_);
  if (!descriptor_.is_open()) return model_not_supported();
  const bool is_told = is_triggered_;
  evd = take_hint_locked();
  return is_told ? kOk : queue_empty(false);
}

bool ConsumerNotification::is_worth_waking(std::uint64_t epoch) const {
  std::lock_guard lock(mutex_);
  return is_triggered_ || epoch_ != epoch || is_closed_;
}

base::WakeReason ConsumerNotification::await_news(base::Time deadline, std::uint64_t epoch) {
  const base::Time end = std::min(deadline, base::Clock::now() + kSpin);
  // Polls, and then sleeps. Sleeper announces the sleep, so a trigger after the last look wakes.
  do {
    ia().device().progress();
    if (is_worth_waking(epoch)) return base::WakeReason::kNotified;
  } while (base::Clock::now() < end);
  Sleeper sleeper(wake_);
  if (is_worth_waking(epoch)) return base::WakeReason::kNotified;
  return sleeper.sleep(ia().device(), deadline);
}

}  // namespace softdat::object
