// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/endpoint_binding.h"

#include <algorithm>

#include "libdat/object/event_dispatcher.h"
#include "libdat/object/hca_status.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/object/limit.h"
#include "libdat/object/protection_zone.h"
#include "libdat/object/shared_receive_queue.h"

namespace softdat::object {

EndpointBinding::EndpointBinding(std::shared_ptr<hca::Device> device, const BindingConfig& config, Handle ep)
    : device_(std::move(device)),
      config_(config),
      may_post_unsignalled_recv_(recv_mode_of(config.attributes) == NotifyMode::kUnsignalled),
      may_post_unsignalled_request_(request_mode_of(config.attributes) == NotifyMode::kUnsignalled),
      ep_(ep) {}

// The queue pair refers to the PZ and to the EVDs' completion queues, so it ends first.
EndpointBinding::~EndpointBinding() {
  queue_pair_.reset();
  leave();
}

Status EndpointBinding::create(const std::shared_ptr<hca::Device>& device, const BindingConfig& config, Handle ep,
                               const EndpointSinks& sinks, std::unique_ptr<EndpointBinding>& out) {
  std::unique_ptr<EndpointBinding> self(new EndpointBinding(device, config, ep));
  if (const Status status = self->join(); !status.ok()) return status;
  if (config.pz != nullptr) {
    if (const Status status = self->make_queue_pair(sinks); !status.ok()) return status;
  }
  out = std::move(self);
  return kOk;
}

// Counts this EP as a user of each part, so that none can be freed. A failure leaves those that were joined.
Status EndpointBinding::join() {
  if (config_.pz != nullptr) {
    is_in_pz_ = &config_.pz->device() == device_.get() && config_.pz->add_user();
    if (!is_in_pz_) return invalid_handle(StatusDetail::kInvalidHandlePz);
  }
  const auto join_evd = [&](EventDispatcher* evd, bool& is_in, NotifyMode mode, StatusDetail handle) -> Status {
    if (evd == nullptr) return kOk;
    if (&evd->ia().device() != device_.get()) return invalid_handle(handle);
    const Status status = evd->streams().add_dto(mode, handle);
    is_in = status.ok();
    return status;
  };
  Status status = join_evd(config_.recv_evd.get(), is_in_recv_evd_, recv_mode_of(config_.attributes),
                           StatusDetail::kInvalidHandleEvdRecv);
  if (status.ok()) {
    status = join_evd(config_.request_evd.get(), is_in_request_evd_, request_mode_of(config_.attributes),
                      StatusDetail::kInvalidHandleEvdRequest);
  }
  if (!status.ok()) leave();
  return status;
}

void EndpointBinding::leave() {
  if (std::exchange(is_in_request_evd_, false)) {
    config_.request_evd->streams().remove_dto(request_mode_of(config_.attributes));
  }
  if (std::exchange(is_in_recv_evd_, false)) {
    config_.recv_evd->streams().remove_dto(recv_mode_of(config_.attributes));
  }
  if (std::exchange(is_in_pz_, false)) config_.pz->remove_user();
}

// Both directions may be swallowed; together they hold all that can be outstanding. The receives of
// a shared queue, of which there may be any number, come without a post of this EP.
Status EndpointBinding::make_swallowed() {
  // An EP with both EVDs swallows nothing.
  if (config_.recv_evd != nullptr && config_.request_evd != nullptr) return kOk;
  const hca::QueuePairLimits limits = limits_of(config_.attributes);
  const bool takes_shared = config_.srq != nullptr && config_.recv_evd == nullptr;
  const hca::DeviceAttributes& device = device_->attributes();
  const std::size_t wanted = std::size_t{limits.send_wr} + (takes_shared ? device.max_wr : limits.recv_wr);
  const std::size_t capacity = std::min<std::size_t>(wanted, device.max_cqe);
  auto swallowed = SwallowedCompletions::create(*device_, capacity, takes_shared);
  if (!swallowed) {
    return creation_failure(swallowed.reason(), StatusDetail::kResourceTevd, StatusDetail::kInvalidArg6);
  }
  swallowed_ = std::move(*swallowed);
  return kOk;
}

Status EndpointBinding::make_queue_pair(const EndpointSinks& sinks) {
  if (const Status status = make_swallowed(); !status.ok()) return status;
  const auto queue_of = [&](const std::shared_ptr<EventDispatcher>& evd) {
    return evd == nullptr ? &swallowed_->queue() : evd->queue().completion_queue();
  };
  const hca::QueuePairConfig config{.pd = &config_.pz->domain(),
                                    .send_cq = queue_of(config_.request_evd),
                                    .recv_cq = queue_of(config_.recv_evd),
                                    .limits = limits_of(config_.attributes),
                                    // Comes back in each completion, as ep_handle of the event.
                                    .context = reinterpret_cast<std::uint64_t>(ep_),
                                    .sink = &sinks.connected,
                                    .srq = config_.srq == nullptr ? nullptr : &config_.srq->queue(),
                                    .recv_wakes = recv_mode_of(config_.attributes) == NotifyMode::kSolicited
                                                      ? hca::RecvWakes::kIfSolicited
                                                      : hca::RecvWakes::kAlways};
  if (config_.attributes.service_type == kDatagramService) return make_datagram_queue_pair(config, sinks.datagram);
  auto queue_pair = device_->create_qp(config);
  if (!queue_pair) {
    return failed_creation(queue_pair.reason(), StatusDetail::kResourceTep, StatusDetail::kInvalidArg6,
                           device_->attributes(), {"endpoints", device_->attributes().max_qp, "max_eps"});
  }
  queue_pair_ = std::move(*queue_pair);
  return kOk;
}

Status EndpointBinding::make_datagram_queue_pair(const hca::QueuePairConfig& config, hca::DatagramSink& sink) {
  auto* const device = dynamic_cast<hca::DatagramDevice*>(device_.get());
  if (device == nullptr) return model_not_supported();
  auto queue_pair = device->create_datagram_qp(config, sink);
  if (!queue_pair) {
    return failed_creation(queue_pair.reason(), StatusDetail::kResourceTep, StatusDetail::kInvalidArg6,
                           device_->attributes(), {"endpoints for datagrams", device_->attributes().max_qp, "max_eps"});
  }
  datagram_queue_pair_ = queue_pair->get();
  queue_pair_ = std::move(*queue_pair);
  return kOk;
}

}  // namespace softdat::object
