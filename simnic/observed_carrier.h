// SPDX-License-Identifier: BSD-2-Clause
// ObservedCarrier: a carrier between a NIC and its real carrier, which exists only if there is a memory observer
// (hca/memory_observer.h). Everything passes unchanged; the observer hears of it first.
#pragma once

#include <memory>

#include "hca/memory_observer.h"
#include "simnic/wrapped_carrier.h"

namespace softdat::simnic {

// Owned by the baton.
class ObservedCarrier final : public WrappedCarrier {
 public:
  ObservedCarrier(std::unique_ptr<transport::Carrier> inner, hca::MemoryObserver& observer)
      : WrappedCarrier(std::move(inner)), observer_(observer) {}

  transport::ListenResult listen(std::uint64_t service_id, std::uint32_t backlog, transport::PortSink& sink) override;
  std::unique_ptr<transport::Channel> connect(const transport::Address& remote, const transport::Offer& request,
                                              transport::ChannelSink& sink) override;

 private:
  hca::MemoryObserver& observer_;
};

}  // namespace softdat::simnic
