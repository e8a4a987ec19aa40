// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/capture/capturing_carrier.h"

#include <utility>

#include "simnic/capture/capturing_channel.h"
#include "simnic/port_base.h"

namespace softdat::simnic::capture {
namespace {

using transport::ChannelSink;
using transport::InboundRequest;
using transport::Offer;

class CapturingRequest final : public WrappedRequest {
 public:
  CapturingRequest(const Place& place, std::unique_ptr<InboundRequest> inner)
      : WrappedRequest(std::move(inner)), place_(place) {}

  std::unique_ptr<transport::Channel> accept(const Offer& reply, ChannelSink& sink) override {
    auto channel = std::make_unique<CapturingChannel>(place_, sink);
    return channel->accept(*inner_, reply) ? std::move(channel) : nullptr;
  }

  void reject(std::span<const std::byte> private_data) override {
    capture_reject(place_, offer(), private_data);
    inner_->reject(private_data);
  }

 private:
  const Place& place_;
};

Place make_place(Recorder& recorder, const std::string& adapter, const transport::Address& address) {
  Place place = describe_place(recorder, adapter, address);
  place.port_base = port_base_of(recorder.number(), place.interface);
  return place;
}

}  // namespace

CapturingCarrier::CapturingCarrier(std::unique_ptr<transport::Carrier> inner, Recorder& recorder,
                                   const std::string& adapter, const transport::Address& address)
    : WrappedCarrier(std::move(inner)), place_(make_place(recorder, adapter, address)) {}

CapturingCarrier::~CapturingCarrier() {
  // The carrier first: it may still send farewells, which belong into the capture.
  inner_.reset();
  place_.recorder.flush();
}

transport::ListenResult CapturingCarrier::listen(std::uint64_t service_id, std::uint32_t backlog,
                                                 transport::PortSink& sink) {
  return WrappedPort::listen(*inner_, service_id, backlog, sink, [this](std::unique_ptr<InboundRequest> request) {
    return std::make_unique<CapturingRequest>(place_, std::move(request));
  });
}

std::unique_ptr<transport::Channel> CapturingCarrier::connect(const transport::Address& remote, const Offer& request,
                                                              ChannelSink& sink) {
  auto channel = std::make_unique<CapturingChannel>(place_, sink);
  channel->connect(*inner_, remote, request);
  return channel;
}

}  // namespace softdat::simnic::capture
