// SPDX-License-Identifier: BSD-2-Clause
// CapturingCarrier: a carrier between a NIC and its real carrier, which exists only while a capture runs. Every channel
// of it is a CapturingChannel. Owned by the baton.
#pragma once

#include <memory>
#include <string>

#include "simnic/capture/stream.h"
#include "transport/carrier.h"

namespace softdat::simnic::capture {

class CapturingCarrier final : public transport::Carrier {
 public:
  // `adapter`: its name. Throws std::bad_alloc.
  CapturingCarrier(std::unique_ptr<transport::Carrier> inner, Recorder& recorder, const std::string& adapter,
                   const transport::Address& address);
  // Waits for what it has captured to be written.
  ~CapturingCarrier() override;

  transport::ListenResult listen(std::uint64_t service_id, std::uint32_t backlog, transport::PortSink& sink) override;
  std::unique_ptr<transport::Channel> connect(const transport::Address& remote, const transport::Offer& request,
                                              transport::ChannelSink& sink) override;
  std::size_t turn(base::Time now) override { return inner_->turn(now); }
  std::size_t look() override { return inner_->look(); }
  bool has_failed() const override { return inner_->has_failed(); }
  void wait(base::Time deadline) override { inner_->wait(deadline); }
  void interrupt() override { inner_->interrupt(); }
  std::unique_ptr<transport::Reactor::Watch> watch(int fd, transport::ReadinessSink& sink) override {
    return inner_->watch(fd, sink);
  }

  // For NicConfig::port_base.
  std::uint32_t port_base() const { return place_.port_base; }

 private:
  std::unique_ptr<transport::Carrier> inner_;
  const Place place_;
};

}  // namespace softdat::simnic::capture
