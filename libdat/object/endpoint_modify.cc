// SPDX-License-Identifier: BSD-2-Clause
// dat_ep_modify. Whatever a queue pair cannot change in place asks for a new one.
#include "libdat/object/endpoint.h"
#include "libdat/object/event_dispatcher.h"
#include "libdat/object/protection_zone.h"
#include "libdat/object/shared_receive_queue.h"

namespace softdat::object {
namespace {

constexpr StatusDetail kParameters = StatusDetail::kInvalidArg3;

template <typename T>
std::shared_ptr<T> share(T* object) {
  if (object == nullptr) return nullptr;
  return std::static_pointer_cast<T>(object->shared_from_this());
}

bool fits(const hca::QueuePairLimits& wish, const hca::QueuePairLimits& have) {
  return wish.send_wr <= have.send_wr && wish.recv_wr <= have.recv_wr && wish.send_sge <= have.send_sge &&
         wish.recv_sge <= have.recv_sge && wish.reads_in <= have.reads_in && wish.reads_out <= have.reads_out;
}

}  // namespace

Status Endpoint::modify(const EndpointChange& change) {
  std::lock_guard lock(modify_mutex_);
  if (const Status status = check_modify(change); !status.ok()) return status;
  return change_locked(change);
}

Status Endpoint::check_modify(const EndpointChange& change) const {
  if (change.attributes.has_value()) {
    const Status status = check_attributes(*change.attributes, device_->attributes(), kParameters);
    if (!status.ok()) return status;
  }
  const bool is_other = change.recv_evd.has_value() || change.request_evd.has_value() ||
                        change.connect_evd.has_value() || change.attributes.has_value();
  if (change.pz.has_value() && !allows(EndpointEvent::kModifyZone)) return refusal();
  return is_other && !allows(EndpointEvent::kModifyOther) ? refusal() : kOk;
}

Status Endpoint::change_locked(const EndpointChange& change) {
  BindingConfig config = binding().config();
  config.attributes = attributes_;
  if (change.pz.has_value()) config.pz = share(*change.pz);
  if (change.recv_evd.has_value()) config.recv_evd = share(*change.recv_evd);
  if (change.request_evd.has_value()) config.request_evd = share(*change.request_evd);
  if (change.attributes.has_value()) {
    config.attributes = complete_attributes(*change.attributes, device_->attributes());
    if (srq_ != nullptr) config.attributes.max_recv_iov = srq_->max_recv_iov();
  }
  EventDispatcher* const old_connect_evd = connect_evd_.get();
  const std::shared_ptr<EventDispatcher> kept = connect_evd_;
  if (change.connect_evd.has_value()) {
    const Status status = set_connect_evd_locked(*change.connect_evd);
    if (!status.ok()) return status;
  }
  if (needs_new_binding_locked(config)) {
    const Status status = rebind_locked(config);
    if (!status.ok()) {
      if (change.connect_evd.has_value()) {
        static_cast<void>(set_connect_evd_locked(old_connect_evd));
      }
      return status;
    }
  }
  const bool is_watermark_new = config.attributes.srq_soft_hw != attributes_.srq_soft_hw;
  {
    std::lock_guard lock(mutex_);
    attributes_ = config.attributes;
  }
  if (is_watermark_new) is_soft_watermark_armed_.store(true);
  apply_watermarks_locked(binding());
  return kOk;
}

bool Endpoint::needs_new_binding_locked(const BindingConfig& config) const {
  const BindingConfig& now = binding().config();
  if (config.pz != now.pz || config.recv_evd != now.recv_evd || config.request_evd != now.request_evd) {
    return true;
  }
  if (recv_mode_of(config.attributes) != recv_mode_of(now.attributes) ||
      request_mode_of(config.attributes) != request_mode_of(now.attributes)) {
    return true;
  }
  return !fits(limits_of(config.attributes), limits_of(now.attributes));
}

// Receives that are posted stay with the queue pair that has them, so there may be none. The old
// binding leaves the EVDs first: its own mode must not stand against the new one's.
Status Endpoint::rebind_locked(const BindingConfig& config) {
  EndpointBinding& old = *bindings_.back();
  if (old.queue_pair() != nullptr && old.queue_pair()->recvs_outstanding() > 0) return refusal();
  bindings_.reserve(bindings_.size() + 1);
  old.leave();
  std::unique_ptr<EndpointBinding> made;
  const Status status = EndpointBinding::create(device_, config, handle(), *this, kParameters, made);
  if (!status.ok()) {
    static_cast<void>(old.join(kParameters));
    return status;
  }
  std::lock_guard lock(mutex_);
  binding_.store(made.get(), std::memory_order_release);
  bindings_.push_back(std::move(made));
  return kOk;
}

Status Endpoint::set_connect_evd_locked(EventDispatcher* evd) {
  if (evd != nullptr) {
    const bool is_good = evd->takes(kConnectionStream) && &evd->device() == device_.get();
    if (!is_good || !evd->add_stream()) {
      return invalid_handle(StatusDetail::kInvalidHandleEvdConn);
    }
  }
  std::shared_ptr<EventDispatcher> other = share(evd);
  {
    std::lock_guard lock(mutex_);
    connect_evd_.swap(other);
  }
  if (other != nullptr) other->remove_stream();
  return kOk;
}

}  // namespace softdat::object
