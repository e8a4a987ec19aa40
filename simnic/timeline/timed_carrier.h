// SPDX-License-Identifier: BSD-2-Clause
// TimedCarrier: a carrier between a NIC and its real carrier, which exists only while a timeline is written. Every
// channel of it is a TimedChannel. All else it passes on, direct access included. Owned by the baton.
#pragma once

#include <memory>

#include "base/timeline.h"
#include "simnic/wrapped_carrier.h"

namespace softdat::simnic::timeline {

class TimedCarrier final : public WrappedCarrier {
 public:
  TimedCarrier(std::unique_ptr<transport::Carrier> inner, base::Timeline& timeline)
      : WrappedCarrier(std::move(inner)), timeline_(timeline) {}
  // Waits for the events so far to be written.
  ~TimedCarrier() override;

  transport::ListenResult listen(std::uint64_t service_id, std::uint32_t backlog, transport::PortSink& sink) override;
  std::unique_ptr<transport::Channel> connect(const transport::Address& remote, const transport::Offer& request,
                                              transport::ChannelSink& sink) override;

 private:
  base::Timeline& timeline_;
};

}  // namespace softdat::simnic::timeline
