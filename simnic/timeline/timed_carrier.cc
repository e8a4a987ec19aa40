// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/timeline/timed_carrier.h"

#include <utility>

#include "simnic/timeline/timed_channel.h"

namespace softdat::simnic::timeline {
namespace {

using transport::ChannelSink;
using transport::InboundRequest;
using transport::Offer;

bool is_of_datagrams(const Offer& offer) {
  return (offer.features & transport::kDatagrams) != 0;
}

class TimedRequest final : public InboundRequest {
 public:
  TimedRequest(base::Timeline& timeline, std::unique_ptr<InboundRequest> inner)
      : timeline_(timeline), inner_(std::move(inner)) {}

  const Offer& offer() const override { return inner_->offer(); }
  bool is_alive() const override { return inner_->is_alive(); }

  std::unique_ptr<transport::Channel> accept(const Offer& reply, ChannelSink& sink) override {
    if (is_of_datagrams(offer())) return inner_->accept(reply, sink);
    auto channel = std::make_unique<TimedChannel>(timeline_, reply.address, sink);
    return channel->accept(*inner_, reply) ? std::move(channel) : nullptr;
  }

  void reject(std::span<const std::byte> private_data) override { inner_->reject(private_data); }

 private:
  base::Timeline& timeline_;
  const std::unique_ptr<InboundRequest> inner_;
};

class TimedPort final : public transport::Port, private transport::PortSink {
 public:
  TimedPort(base::Timeline& timeline, transport::PortSink& sink) : timeline_(timeline), sink_(sink) {}
  transport::PortSink& own_sink() { return *this; }
  void adopt(std::unique_ptr<transport::Port> inner) { inner_ = std::move(inner); }

 private:
  void on_request(std::unique_ptr<InboundRequest> request) override {
    sink_.on_request(std::make_unique<TimedRequest>(timeline_, std::move(request)));
  }

  base::Timeline& timeline_;
  transport::PortSink& sink_;
  std::unique_ptr<transport::Port> inner_;
};

constexpr std::uint32_t kPortsOfProcess = 512;
constexpr std::uint32_t kPortsOfAdapter = 128;
constexpr std::uint32_t kPorts = 0x8000;

}  // namespace

TimedCarrier::~TimedCarrier() {
  inner_.reset();
  timeline_.file().flush();
}

transport::ListenResult TimedCarrier::listen(std::uint64_t service_id, std::uint32_t backlog,
                                             transport::PortSink& sink) {
  auto port = std::make_unique<TimedPort>(timeline_, sink);
  transport::ListenResult result = inner_->listen(service_id, backlog, port->own_sink());
  if (!result.port) return result;
  port->adopt(std::move(result.port));
  return {std::move(port)};
}

std::unique_ptr<transport::Channel> TimedCarrier::connect(const transport::Address& remote, const Offer& request,
                                                          ChannelSink& sink) {
  if (is_of_datagrams(request)) return inner_->connect(remote, request, sink);
  auto channel = std::make_unique<TimedChannel>(timeline_, request.address, sink);
  channel->connect(*inner_, remote, request);
  return channel;
}

std::uint32_t port_base(const base::Timeline& timeline, std::uint32_t adapter) {
  return (timeline.file().number() * kPortsOfProcess + adapter * kPortsOfAdapter) % kPorts;
}

}  // namespace softdat::simnic::timeline
