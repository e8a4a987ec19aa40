// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/timeline/timed_carrier.h"

#include <utility>

#include "simnic/timeline/timed_channel.h"

namespace softdat::simnic::timeline {
namespace {

using transport::ChannelSink;
using transport::InboundRequest;
using transport::Offer;

class TimedRequest final : public WrappedRequest {
 public:
  TimedRequest(base::TimelineEndpoints& timeline, std::unique_ptr<InboundRequest> inner)
      : WrappedRequest(std::move(inner)), timeline_(timeline) {}

  std::unique_ptr<transport::Channel> accept(const Offer& reply, ChannelSink& sink) override {
    if (is_of_datagrams(offer())) return inner_->accept(reply, sink);
    auto channel = std::make_unique<TimedChannel>(timeline_, reply.address, sink);
    return channel->accept(*inner_, reply) ? std::move(channel) : nullptr;
  }

 private:
  base::TimelineEndpoints& timeline_;
};

}  // namespace

TimedCarrier::~TimedCarrier() {
  // The carrier first: its last events belong into the file.
  inner_.reset();
  timeline_.file().flush();
}

transport::ListenResult TimedCarrier::listen(std::uint64_t service_id, std::uint32_t backlog,
                                             transport::PortSink& sink) {
  return WrappedPort::listen(*inner_, service_id, backlog, sink, [this](std::unique_ptr<InboundRequest> request) {
    return std::make_unique<TimedRequest>(timeline_.endpoints(), std::move(request));
  });
}

std::unique_ptr<transport::Channel> TimedCarrier::connect(const transport::Address& remote, const Offer& request,
                                                          ChannelSink& sink) {
  if (is_of_datagrams(request)) return inner_->connect(remote, request, sink);
  auto channel = std::make_unique<TimedChannel>(timeline_.endpoints(), request.address, sink);
  channel->connect(*inner_, remote, request);
  return channel;
}

}  // namespace softdat::simnic::timeline
