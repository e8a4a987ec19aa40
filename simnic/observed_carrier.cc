// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/observed_carrier.h"

#include <algorithm>
#include <utility>

#include "simnic/wrapped_channel.h"

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

class ObservedChannel final : public WrappedChannel {
 public:
  ObservedChannel(ChannelSink& sink, MemoryObserver& observer) : WrappedChannel(sink), observer_(observer) {}

 private:
  // The carrier calls the two others then, which see the bytes.
  bool on_short_send(const transport::ShortSend&) override { return false; }
  // The sink may destroy this channel.
  Placement place(const Arrival& arrival, transport::SliceList& out) override {
    MemoryObserver& observer = observer_;
    last_ = {};
    if (arrival.first) written_ = {};
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
      if (origin == StoreOrigin::kPeerWrite) extend_written(last_);
    }
    return placement;
  }
  void on_message(const Message& message) override {
    // Before the sink answers it: the sanitizer reports a read of memory that the program is still writing.
    if (message.opcode == Opcode::kReadRequest) observer_.on_peer_read(message.source_stag, false);
    if (message.opcode == Opcode::kAtomicRequest) observer_.on_peer_read(message.source_stag, true);
    if (transport::carries_payload(message.opcode) && message.opcode != Opcode::kWrite && !last_.empty()) {
      observer_.after_store(last_);
    }
    if (message.opcode == Opcode::kWrite && !written_.empty()) observer_.after_peer_write(written_);
    sink_.on_message(message);
  }

  void extend_written(std::span<std::byte> bytes) {
    const bool follows = !written_.empty() && written_.data() + written_.size() == bytes.data();
    written_ = follows ? std::span(written_.data(), written_.size() + bytes.size()) : bytes;
  }

  MemoryObserver& observer_;
  std::span<std::byte> last_;     // where the last bytes of the message went; empty: nowhere
  std::span<std::byte> written_;  // by the RDMA write that arrives: the last part that is of one piece
};

class ObservedRequest final : public WrappedRequest {
 public:
  ObservedRequest(std::unique_ptr<InboundRequest> inner, MemoryObserver& observer)
      : WrappedRequest(std::move(inner)), observer_(observer) {}

  std::unique_ptr<Channel> accept(const Offer& reply, ChannelSink& sink) override {
    // Datagrams are put together in memory of the link, not of the consumer.
    if (is_of_datagrams(offer())) return inner_->accept(reply, sink);
    auto channel = std::make_unique<ObservedChannel>(sink, observer_);
    return channel->accept(*inner_, reply) ? std::move(channel) : nullptr;
  }

 private:
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
