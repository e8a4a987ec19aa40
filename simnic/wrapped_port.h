// SPDX-License-Identifier: BSD-2-Clause
// WrappedPort: the port of a carrier that stands before another one, and hands on each request as one of its own.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "transport/carrier.h"

namespace softdat::simnic {

// Carriers that stand before another one hand such a request on as it is.
inline bool is_of_datagrams(const transport::Offer& offer) {
  return (offer.features & transport::kDatagrams) != 0;
}

// Owned by the baton.
class WrappedPort final : public transport::Port, private transport::PortSink {
 public:
  using Request = std::unique_ptr<transport::InboundRequest>;
  using Wrap = std::function<Request(Request)>;

  // As Carrier::listen(); `wrap` makes of each request of `inner` the one that `sink` gets, or null: the
  // peer is refused. Throws std::bad_alloc.
  static transport::ListenResult listen(transport::Carrier& inner, std::uint64_t service_id, std::uint32_t backlog,
                                        transport::PortSink& sink, Wrap wrap) {
    auto port = std::make_unique<WrappedPort>(sink, std::move(wrap));
    transport::ListenResult result = inner.listen(service_id, backlog, *port);
    if (!result.port) return result;
    port->inner_ = std::move(result.port);
    return {std::move(port)};
  }

  WrappedPort(transport::PortSink& sink, Wrap wrap) : sink_(sink), wrap_(std::move(wrap)) {}

 private:
  void on_request(Request request) override {
    if (Request wrapped = wrap_(std::move(request))) sink_.on_request(std::move(wrapped));
  }

  transport::PortSink& sink_;
  const Wrap wrap_;
  std::unique_ptr<transport::Port> inner_;
};

}  // namespace softdat::simnic
