// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/cno_trigger.h"

#include <mutex>

#include "libdat/object/consumer_notification.h"
#include "libdat/object/feeding_streams.h"
#include "libdat/object/interface_adapter.h"

namespace softdat::object {

CnoTrigger::CnoTrigger(const Object& evd, const FeedingStreams& streams) : evd_(evd), streams_(streams) {}

CnoTrigger::~CnoTrigger() = default;

Status CnoTrigger::enable() {
  {
    std::lock_guard lock(mutex_);
    is_enabled_ = true;
    if (cno_ == nullptr) return kOk;
  }
  streams_.arm();
  return kOk;
}

Status CnoTrigger::disable() {
  std::lock_guard lock(mutex_);
  is_enabled_ = false;
  return kOk;
}

// Joins the new CNO before it leaves the old one, so a failure changes nothing.
Status CnoTrigger::modify_cno(ConsumerNotification* cno) {
  std::shared_ptr<ConsumerNotification> next;
  if (cno != nullptr) {
    if (&cno->ia().device() != &evd_.ia().device() || !cno->add_evd(evd_.handle())) {
      return invalid_handle(StatusDetail::kInvalidHandleCno);
    }
    next = std::static_pointer_cast<ConsumerNotification>(cno->shared_from_this());
  }
  {
    std::lock_guard lock(mutex_);
    cno_.swap(next);
  }
  // Without the lock, and `false`: the EVD lives on, so nobody is woken.
  if (next != nullptr) next->remove_evd(evd_.handle(), false);
  if (cno != nullptr) streams_.arm();
  return kOk;
}

// The EVD is being freed. If it was the CNO's last one, threads that wait there get a null EVD.
void CnoTrigger::end() {
  std::shared_ptr<ConsumerNotification> cno;
  {
    std::lock_guard lock(mutex_);
    cno = std::move(cno_);
  }
  if (cno != nullptr) cno->remove_evd(evd_.handle(), true);
}

bool CnoTrigger::is_heard() const {
  std::lock_guard lock(mutex_);
  return cno_ != nullptr && is_enabled_;
}

// The lock is held over the CNO's own, so after modify_cno() nobody triggers the old CNO.
void CnoTrigger::trigger() {
  std::lock_guard lock(mutex_);
  if (cno_ != nullptr && is_enabled_) cno_->trigger(evd_.handle());
}

CnoTrigger::Settings CnoTrigger::settings() const {
  std::lock_guard lock(mutex_);
  return {.cno = cno_ == nullptr ? nullptr : cno_->handle(), .is_enabled = is_enabled_};
}

}  // namespace softdat::object
