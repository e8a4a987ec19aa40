// SPDX-License-Identifier: BSD-2-Clause
// CapturingCarrier: a carrier between a NIC and its real carrier, which exists only while a capture runs. Every channel
// of it is a CapturingChannel. Owned by the baton.
#pragma once

#include <memory>
#include <string>

#include "simnic/capture/stream.h"
#include "simnic/wrapped_carrier.h"

namespace softdat::simnic::capture {

class CapturingCarrier final : public WrappedCarrier {
 public:
  // `adapter`: its name. Throws std::bad_alloc.
  CapturingCarrier(std::unique_ptr<transport::Carrier> inner, Recorder& recorder, const std::string& adapter,
                   const transport::Address& address);
  // Waits for what it has captured to be written.
  ~CapturingCarrier() override;

  transport::ListenResult listen(std::uint64_t service_id, std::uint32_t backlog, transport::PortSink& sink) override;
  std::unique_ptr<transport::Channel> connect(const transport::Address& remote, const transport::Offer& request,
                                              transport::ChannelSink& sink) override;
  const transport::WatchWords* watch_words() const override { return nullptr; }

  // For NicConfig::port_base.
  std::uint32_t port_base() const { return place_.port_base; }

 private:
  const Place place_;
};

}  // namespace softdat::simnic::capture
