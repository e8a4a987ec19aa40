// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/observed_carrier.h"

#include <algorithm>
#include <utility>

#include "simnic/wrapped_port.h"

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
using transport::Opcode;
using transport::Placement;

// The queue pair's channel, and the real channel's sink.
class ObservedChannel final : public Channel, private ChannelSink {
 public:
  ObservedChannel(ChannelSink& sink, MemoryObserver& observer) : sink_(sink), observer_(observer) {}

  void connect(transport::Carrier& carrier, const transport::Address& remote, const Offer& request) {
    inner_ = carrier.connect(remote, request, *this);
  }
  // False: the peer has gone, and the sink hears nothing.
  bool accept(InboundRequest& request, const Offer& reply) {
    inner_ = request.accept(reply, *this);
    return inner_ != nullptr;
  }

  transport::SendResult send(const Message& message, transport::PayloadSource* payload) override {
    return inner_->send(message, payload);
  }
  bool takes_briefs() const override { return inner_ != nullptr && inner_->takes_briefs(); }
  bool send_brief(const transport::Brief& brief) override { return inner_->send_brief(brief); }
  void flush() override { inner_->flush(); }
  void terminate(const transport::TerminateCode& code) override { inner_->terminate(code); }
  void close(transport::CloseMode mode) override { inner_->close(mode); }
  void cut() override { inner_->cut(); }
  bool cut_within(const Message& message, transport::PayloadSource* payload) override {
    return inner_->cut_within(message, payload);
  }
  bool damage_next(const transport::Damage& damage) override { return inner_->damage_next(damage); }
  transport::Features features() const override { return inner_ ? inner_->features() : 0; }
  std::shared_ptr<transport::PeerResources> peer_resources() const override { return inner_->peer_resources(); }
  const char* carrier_name() const override { return inner_ ? inner_->carrier_name() : "observed"; }

 private:
  // The sink may destroy this channel in any call. on_brief() is left out: the carrier then calls the two others.
  Placement place(const Arrival& arrival, transport::SliceList& out) override {
    MemoryObserver& observer = observer_;
    last_ = {};
    const Placement placement = sink_.place(arrival, out);
    if (placement == Placement::kDiscard) return placement;
    const auto origin = arrival.opcode == Opcode::kWrite ? StoreOrigin::kPeerWrite : StoreOrigin::kCompletion;
    std::size_t left = arrival.length;
    for (const transport::Slice& slice : out.slices()) {
      const std::size_t length = std::min(slice.length, left);
      left -= length;
      if (length == 0) continue;
      observer.before_store(origin, {slice.data, length});
      last_ = {slice.data, length};
    }
    return placement;
  }
  void on_message(const Message& message) override {
    if (message.opcode == Opcode::kReadRequest) observer_.on_peer_read(message.source_stag, false);
    if (message.opcode == Opcode::kAtomicRequest) observer_.on_peer_read(message.source_stag, true);
    if (transport::carries_payload(message.opcode) && message.opcode != Opcode::kWrite && !last_.empty()) {
      observer_.after_store(last_);
    }
    sink_.on_message(message);
  }
  void on_fault(const Arrival& arrival) override { sink_.on_fault(arrival); }
  void end_briefs() override { sink_.end_briefs(); }
  std::uint64_t receive_length() override { return sink_.receive_length(); }
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
  std::span<std::byte> last_;  // where the last bytes of the message went; empty: nowhere
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
    return channel->accept(*inner_, reply) ? std::move(channel) : nullptr;
  }

 private:
  const std::unique_ptr<InboundRequest> inner_;
  MemoryObserver& observer_;
};

}  // namespace

transport::ListenResult ObservedCarrier::listen(std::uint64_t service_id, std::uint32_t backlog,
                                                transport::PortSink& sink) {
  return WrappedPort::listen(*inner_, service_id, backlog, sink, [this](std::unique_ptr<InboundRequest> request) {
    return std::make_unique<ObservedRequest>(std::move(request), observer_);
  });
}

std::unique_ptr<Channel> ObservedCarrier::connect(const transport::Address& remote, const Offer& request,
                                                  ChannelSink& sink) {
  if (is_of_datagrams(request)) return inner_->connect(remote, request, sink);
  auto channel = std::make_unique<ObservedChannel>(sink, observer_);
  channel->connect(*inner_, remote, request);
  return channel;
}

}  // namespace softdat::simnic
