// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/observed_carrier.h"

#include <algorithm>
#include <utility>

namespace softdat::simnic {
namespace {

using hca::MemoryObserver;
using hca::StoreOrigin;
using transport::Arrival;
using transport::Channel;
using transport::ChannelSink;
using transport::InboundRequest;
using transport::Message;
using transport::Offer;
using transport::Placement;

bool is_of_datagrams(const Offer& offer) {
  return (offer.features & transport::kDatagrams) != 0;
}

// The queue pair's channel, and the real channel's sink.
class ObservedChannel final : public Channel, private ChannelSink {
 public:
  ObservedChannel(ChannelSink& sink, MemoryObserver& observer) : sink_(sink), observer_(observer) {}
  ChannelSink& own_sink() { return *this; }
  void adopt(std::unique_ptr<Channel> inner) { inner_ = std::move(inner); }

  transport::SendResult send(const Message& message, transport::PayloadSource* payload) override {
    return inner_->send(message, payload);
  }
  bool takes_briefs() const override { return inner_->takes_briefs(); }
  bool send_brief(const transport::Brief& brief) override { return inner_->send_brief(brief); }
  void flush() override { inner_->flush(); }
  void terminate(const transport::TerminateCode& code) override { inner_->terminate(code); }
  void close(transport::CloseMode mode) override { inner_->close(mode); }
  void cut() override { inner_->cut(); }
  bool cut_within(const Message& message, transport::PayloadSource* payload) override {
    return inner_->cut_within(message, payload);
  }
  bool damage_next(const transport::Damage& damage) override { return inner_->damage_next(damage); }
  transport::Features features() const override { return inner_->features(); }
  std::shared_ptr<transport::PeerResources> peer_resources() const override { return inner_->peer_resources(); }
  const char* carrier_name() const override { return inner_->carrier_name(); }

 private:
  // The sink may destroy this channel in any call.
  Placement place(const Arrival& arrival, transport::SliceList& out) override {
    MemoryObserver& observer = observer_;
    const Placement placement = sink_.place(arrival, out);
    if (placement == Placement::kDiscard) return placement;
    const auto origin =
        arrival.opcode == transport::Opcode::kWrite ? StoreOrigin::kPeerWrite : StoreOrigin::kCompletion;
    std::size_t left = arrival.length;
    for (const transport::Slice& slice : out.slices()) {
      const std::size_t length = std::min(slice.length, left);
      left -= length;
      if (length > 0) observer.before_store(origin, {slice.data, length});
    }
    return placement;
  }
  // on_brief() is left out: the carrier then calls the two others.
  void on_fault(const Arrival& arrival) override { sink_.on_fault(arrival); }
  void on_message(const Message& message) override { sink_.on_message(message); }
  void on_writable() override { sink_.on_writable(); }
  void on_established(const Offer& peer) override { sink_.on_established(peer); }
  void on_refused(transport::Refusal reason, std::span<const std::byte> private_data) override {
    sink_.on_refused(reason, private_data);
  }
  void on_closed(transport::CloseReason reason, const transport::TerminateCode& terminate) override {
    sink_.on_closed(reason, terminate);
  }

  ChannelSink& sink_;
  MemoryObserver& observer_;
  std::unique_ptr<Channel> inner_;
};

class ObservedRequest final : public InboundRequest {
 public:
  ObservedRequest(std::unique_ptr<InboundRequest> inner, MemoryObserver& observer)
      : inner_(std::move(inner)), observer_(observer) {}

  const Offer& offer() const override { return inner_->offer(); }
  bool is_alive() const override { return inner_->is_alive(); }
  void reject(std::span<const std::byte> private_data) override { inner_->reject(private_data); }
  std::unique_ptr<Channel> accept(const Offer& reply, ChannelSink& sink) override {
    if (is_of_datagrams(offer())) return inner_->accept(reply, sink);
    auto channel = std::make_unique<ObservedChannel>(sink, observer_);
    auto inner = inner_->accept(reply, channel->own_sink());
    if (inner == nullptr) return nullptr;
    channel->adopt(std::move(inner));
    return channel;
  }

 private:
  const std::unique_ptr<InboundRequest> inner_;
  MemoryObserver& observer_;
};

class ObservedPort final : public transport::Port, private transport::PortSink {
 public:
  ObservedPort(transport::PortSink& sink, MemoryObserver& observer) : sink_(sink), observer_(observer) {}
  transport::PortSink& own_sink() { return *this; }
  void adopt(std::unique_ptr<transport::Port> inner) { inner_ = std::move(inner); }

 private:
  void on_request(std::unique_ptr<InboundRequest> request) override {
    sink_.on_request(std::make_unique<ObservedRequest>(std::move(request), observer_));
  }

  transport::PortSink& sink_;
  MemoryObserver& observer_;
  std::unique_ptr<transport::Port> inner_;
};

}  // namespace

transport::ListenResult ObservedCarrier::listen(std::uint64_t service_id, std::uint32_t backlog,
                                                transport::PortSink& sink) {
  auto port = std::make_unique<ObservedPort>(sink, observer_);
  transport::ListenResult result = inner_->listen(service_id, backlog, port->own_sink());
  if (!result.port) return result;
  port->adopt(std::move(result.port));
  return {std::move(port)};
}

std::unique_ptr<Channel> ObservedCarrier::connect(const transport::Address& remote, const Offer& request,
                                                  ChannelSink& sink) {
  if (is_of_datagrams(request)) return inner_->connect(remote, request, sink);
  auto channel = std::make_unique<ObservedChannel>(sink, observer_);
  channel->adopt(inner_->connect(remote, request, channel->own_sink()));
  return channel;
}

}  // namespace softdat::simnic
