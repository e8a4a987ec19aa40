// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/endpoint_settings.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <string>

#include "base/narrow.h"
#include "libdat/object/event_dispatcher.h"
#include "libdat/object/handle_words.h"
#include "libdat/object/hca_status.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/object/protection_zone.h"
#include "libdat/object/refusal.h"
#include "libdat/object/shared_receive_queue.h"

namespace softdat::object {
namespace {

constexpr StatusDetail kParameters = StatusDetail::kInvalidArg3;

template <typename T>
std::shared_ptr<T> share(T* object) {
  if (object == nullptr) return nullptr;
  return std::static_pointer_cast<T>(object->shared_from_this());
}

// The segments of a receive are the shared queue's matter.
EndpointAttributes with_queue(EndpointAttributes attributes, const SharedReceiveQueue* srq) {
  if (srq != nullptr) attributes.max_recv_iov = srq->max_recv_iov();
  return attributes;
}

// Queues may be larger than asked for. Numbers of reads are what the peer is told, so they are exact.
bool fits(const hca::QueuePairLimits& wish, const hca::QueuePairLimits& have) {
  return wish.send_wr <= have.send_wr && wish.recv_wr <= have.recv_wr && wish.send_sge <= have.send_sge &&
         wish.recv_sge <= have.recv_sge && wish.ird == have.ird && wish.ord == have.ord;
}

// So that `posted` receives of an EP with attributes `old` find place beside what is asked for.
void make_room_for(std::uint32_t posted, const EndpointAttributes& old, EndpointAttributes& wish) {
  wish.max_recv_dtos = std::max(wish.max_recv_dtos, base::narrow<std::int32_t>(posted));
  wish.max_recv_iov = std::max(wish.max_recv_iov, old.max_recv_iov);
}

// Why posted receives cannot move from one binding to another, as words for people; null: they can.
const char* obstacle_of(const BindingConfig& from, const BindingConfig& to) {
  const bool is_datagram = from.attributes.service_type == kDatagramService;
  if (to.pz == nullptr) return "pz_handle cannot become DAT_HANDLE_NULL";
  if (to.attributes.service_type != from.attributes.service_type) return "service_type of the attributes cannot change";
  if (recv_mode_of(to.attributes) != recv_mode_of(from.attributes))
    return "recv_completion_flags of the attributes cannot change";
  return is_datagram ? "PZ, EVDs and larger attributes of an endpoint for datagrams cannot change" : nullptr;
}

}  // namespace

EndpointSettings::EndpointSettings(const Object& ep, const EndpointSinks& sinks, EndpointBindings& bindings,
                                   const EndpointWords& words, base::Mutex<locks::kModify>& modify_mutex,
                                   base::Mutex<locks::kEndpoint>& mutex)
    : ep_(ep),
      sinks_(sinks),
      bindings_(bindings),
      words_(words),
      modify_mutex_(modify_mutex),
      mutex_(mutex),
      device_(ep.ia().shared_device()) {}

Status EndpointSettings::check(const EndpointConfig& config, const hca::DeviceAttributes& device) {
  if (config.attributes == nullptr) return kOk;
  const StatusDetail argument = config.srq == nullptr ? StatusDetail::kInvalidArg6 : StatusDetail::kInvalidArg7;
  return check_attributes(with_queue(*config.attributes, config.srq), device, argument);
}

Status EndpointSettings::set_up(const EndpointConfig& config) {
  const hca::DeviceAttributes& device = device_->attributes();
  if (config.srq != nullptr) {
    srq_ = &config.srq->device() == device_.get() ? config.srq->use() : nullptr;
    if (srq_ == nullptr) return invalid_handle(StatusDetail::kInvalidHandleSrq);
  }
  const EndpointAttributes wanted = config.attributes == nullptr ? default_attributes(device) : *config.attributes;
  attributes_ = complete_attributes(with_queue(wanted, config.srq), device);
  const BindingConfig binding{share(config.pz), share(config.recv_evd), share(config.request_evd), attributes_,
                              config.srq};
  std::unique_ptr<EndpointBinding> made;
  const Status status = EndpointBinding::create(device_, binding, ep_.handle(), sinks_, made);
  if (!status.ok()) return status;
  const Status connect_status = set_connect_evd(config.connect_evd);
  if (!connect_status.ok()) return connect_status;
  is_soft_watermark_armed_.store(true);
  if (attributes_.srq_soft_hw != kNoWatermark) apply_watermarks(*made);
  bindings_.begin(std::move(made));
  return kOk;
}

// The SRQ and the EVD can be freed from here on.
void EndpointSettings::end() {
  srq_.reset();
  std::shared_ptr<EventDispatcher> connect_evd;
  {
    const std::lock_guard lock(mutex_);
    connect_evd = std::move(connect_evd_);
  }
  if (connect_evd != nullptr) connect_evd->streams().remove();
}

const EndpointAttributes& EndpointSettings::attributes_locked() const {
  base::require_lock(locks::kEndpoint);
  return attributes_;
}

const std::shared_ptr<EventDispatcher>& EndpointSettings::connect_evd_locked() const {
  base::require_lock(locks::kEndpoint);
  return connect_evd_;
}

std::shared_ptr<EventDispatcher> EndpointSettings::connect_evd() const {
  const std::lock_guard lock(mutex_);
  return connect_evd_;
}

Status EndpointSettings::modify(const EndpointChange& change) {
  bindings_.end_replaced(ep_);  // what earlier calls had to leave
  const Status status = modify_now(change);
  bindings_.end_replaced(ep_);
  return status;
}

// What creating an EP would call a bad handle or an unsupported model is here a parameter that is bad or not supported.
Status EndpointSettings::modify_now(const EndpointChange& change) {
  const std::lock_guard lock(modify_mutex_);
  EndpointAttributes wanted = attributes_;
  if (change.attributes) change.attributes(wanted);
  Status status = check_modify(change, wanted);
  if (status.ok()) status = change_locked(change, wanted);
  if (status.type == StatusType::kInvalidHandle) return refuse_part(change, status.detail);
  return status.type == StatusType::kModelNotSupported ? invalid_parameter(kParameters) : status;
}

// Names the part of ep_param that `detail` means, and what it is.
Status EndpointSettings::refuse_part(const EndpointChange& change, StatusDetail detail) const {
  const char* field = "pz_handle";
  const char* rule = "a live PZ of this adapter";
  const Object* part = change.pz.value_or(nullptr);
  switch (detail) {
    case StatusDetail::kInvalidHandleEvdRecv:
      field = "recv_evd_handle", rule = "an EVD of this adapter with DAT_EVD_DTO_FLAG";
      part = change.recv_evd.value_or(nullptr);
      break;
    case StatusDetail::kInvalidHandleEvdRequest:
      field = "request_evd_handle", rule = "an EVD of this adapter with DAT_EVD_DTO_FLAG";
      part = change.request_evd.value_or(nullptr);
      break;
    case StatusDetail::kInvalidHandleEvdConn:
      field = "connect_evd_handle", rule = "an EVD of this adapter with DAT_EVD_CONNECTION_FLAG";
      part = change.connect_evd.value_or(nullptr);
      break;
    default:
      break;
  }
  return because(invalid_parameter(kParameters), [&] {
    const Handle handle = part == nullptr ? nullptr : part->handle();
    return std::string(field) + " of ep_param is " + handle_text(handle, &ep_.ia()) + "; allowed is " + rule;
  });
}

Status EndpointSettings::check_modify(const EndpointChange& change, const EndpointAttributes& wanted) const {
  if (change.attributes) {
    const Status status = check_attributes(wanted, device_->attributes(), kParameters);
    if (!status.ok()) return status;
  }
  const bool is_other = change.recv_evd.has_value() || change.request_evd.has_value() ||
                        change.connect_evd.has_value() || change.attributes;
  const bool is_zone_refused = change.pz.has_value() && !bindings_.allows(EndpointEvent::kModifyZone);
  if (!is_zone_refused && (!is_other || bindings_.allows(EndpointEvent::kModifyOther))) return kOk;
  const EndpointState now = bindings_.state();
  return because(wrong_state(now), [&] {
    const std::string fields = is_zone_refused ? "pz_handle" : "the EVDs and attributes";
    return words_.subject() + " is " + object::name_of(now) + ", and " + fields + " can be modified " +
           (is_zone_refused ? "only while it is UNCONNECTED or TENTATIVE_CONNECTION_PENDING"
                            : "only before it is connected");
  });
}

// Changes everything or nothing: each failure puts the connect EVD back.
Status EndpointSettings::change_locked(const EndpointChange& change, const EndpointAttributes& wanted) {
  base::require_lock(locks::kModify);
  BindingConfig config = bindings_.now().config();
  config.attributes = attributes_;
  if (change.pz.has_value()) config.pz = share(*change.pz);
  if (change.recv_evd.has_value()) config.recv_evd = share(*change.recv_evd);
  if (change.request_evd.has_value()) config.request_evd = share(*change.request_evd);
  if (change.attributes) {
    config.attributes = complete_attributes(wanted, device_->attributes());
    // 0 is a watermark here, as dat_ep_set_watermark(3DAT) sets it, and stays.
    config.attributes.srq_soft_hw = wanted.srq_soft_hw;
    if (srq_ != nullptr) config.attributes.max_recv_iov = srq_->max_recv_iov();
  }
  bindings_.make_room_locked();  // while nothing has changed
  EventDispatcher* const old_connect_evd = connect_evd_.get();
  // Keeps the old EVD alive until it is certain that it is not wanted back.
  const std::shared_ptr<EventDispatcher> kept = connect_evd_;
  if (change.connect_evd.has_value()) {
    const Status status = set_connect_evd(*change.connect_evd);
    if (!status.ok()) return status;
  }
  if (needs_new_binding_locked(config)) {
    const Status status = rebind_locked(config);
    if (!status.ok()) {
      if (change.connect_evd.has_value()) {
        static_cast<void>(set_connect_evd(old_connect_evd));
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
  apply_watermarks(bindings_.now());
  return kOk;
}

bool EndpointSettings::needs_new_binding_locked(const BindingConfig& config) const {
  base::require_lock(locks::kModify);
  const BindingConfig& now = bindings_.now().config();
  if (config.pz != now.pz || config.recv_evd != now.recv_evd || config.request_evd != now.request_evd) {
    return true;
  }
  if (recv_mode_of(config.attributes) != recv_mode_of(now.attributes) ||
      request_mode_of(config.attributes) != request_mode_of(now.attributes)) {
    return true;
  }
  if (config.attributes.service_type != now.attributes.service_type) return true;
  // All other attributes change without a new queue pair.
  return !fits(limits_of(config.attributes), limits_of(now.attributes));
}

// Posted receives move along: they are of the EP, not of its PZ, and one that does not match a new PZ fails when it is
// used. Without a PZ there is no place for them; and how they are told of is settled when they are posted.
Status EndpointSettings::rebind_locked(BindingConfig config) {
  base::require_lock(locks::kModify);
  EndpointBinding& old = bindings_.newest_locked();
  hca::QueuePair* const heritage = old.queue_pair();
  const std::uint32_t posted = heritage == nullptr ? 0 : heritage->recvs_outstanding();
  const char* const obstacle = obstacle_of(old.config(), config);
  if (posted > 0 && obstacle != nullptr) return refuse_with_receives(posted, obstacle);
  if (posted > 0) make_room_for(posted, old.config().attributes, config.attributes);
  std::unique_ptr<EndpointBinding> made;
  if (const Status status = succeed_binding(heritage, obstacle, config, made); !status.ok()) return status;
  // Nothing may fail from here on, because posts that find the old queue pair retired wait for the new one. The old one
  // lives as long as posts may use it. Its PZ and EVDs can be freed.
  old.leave();
  std::lock_guard lock(mutex_);
  bindings_.add_locked(std::move(made));
  return kOk;
}

Status EndpointSettings::refuse_with_receives(std::uint32_t posted, const char* obstacle) const {
  return because(wrong_state(bindings_.state()), [&] {
    return count_text(posted, "receive") + (posted == 1 ? " is" : " are") + " posted on " + words_.name() +
           ", so that " + obstacle + "; modify it before receives are posted";
  });
}

Status EndpointSettings::refuse_under_exchange() const {
  return because(wrong_state(bindings_.state()), [&] {
    return words_.subject() + " is exchanging addresses with a peer; modify it before dat_ep_connect or after the " +
           "event that ends the exchange";
  });
}

// A binding that has taken the place of `heritage`, which may be null and is retired in any case: a receive that
// another thread posts meanwhile is moved, or refuses the change, or finds the new queue pair.
Status EndpointSettings::succeed_binding(hca::QueuePair* heritage, const char* obstacle, const BindingConfig& config,
                                         std::unique_ptr<EndpointBinding>& made) try {
  const Status status = EndpointBinding::create(device_, config, ep_.handle(), sinks_, made);
  if (!status.ok() || heritage == nullptr) return status;
  const hca::Outcome outcome = obstacle != nullptr ? heritage->retire() : made->queue_pair()->inherit_recvs(*heritage);
  if (outcome) return kOk;
  if (outcome.reason() != hca::Error::kInvalidState || obstacle == nullptr)
    return creation_failure(outcome.reason(), StatusDetail::kResourceTep, kParameters);
  const std::uint32_t posted = heritage->recvs_outstanding();
  return posted > 0 ? refuse_with_receives(posted, obstacle) : refuse_under_exchange();
} catch (const std::bad_alloc&) {
  return insufficient_resources(StatusDetail::kResourceMemory);
}

// Joins the new EVD before it leaves the old one.
Status EndpointSettings::set_connect_evd(EventDispatcher* evd) {
  if (evd != nullptr) {
    const bool is_good = evd->streams().takes(kConnectionStream) && &evd->ia().device() == device_.get();
    if (!is_good || !evd->streams().add()) {
      return invalid_handle(StatusDetail::kInvalidHandleEvdConn);
    }
  }
  std::shared_ptr<EventDispatcher> other = share(evd);
  {
    std::lock_guard lock(mutex_);
    connect_evd_.swap(other);
  }
  if (other != nullptr) other->streams().remove();
  return kOk;
}

}  // namespace softdat::object
