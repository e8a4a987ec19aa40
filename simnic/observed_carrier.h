// SPDX-License-Identifier: BSD-2-Clause
// ObservedCarrier: a carrier between a NIC and its real carrier, which exists only if there is a memory observer
// (hca/memory_observer.h). Everything passes unchanged; the observer hears of it first.
#pragma once

#include <memory>

#include "hca/memory_observer.h"
#include "transport/carrier.h"

namespace softdat::simnic {

// Owned by the baton.
class ObservedCarrier final : public transport::Carrier {
 public:
  ObservedCarrier(std::unique_ptr<transport::Carrier> inner, hca::MemoryObserver& observer)
      : inner_(std::move(inner)), observer_(observer) {}

  transport::ListenResult listen(std::uint64_t service_id, std::uint32_t backlog, transport::PortSink& sink) override;
  std::unique_ptr<transport::Channel> connect(const transport::Address& remote, const transport::Offer& request,
                                              transport::ChannelSink& sink) override;
  std::size_t turn(base::Time now) override { return inner_->turn(now); }
  std::size_t look() override { return inner_->look(); }
  const transport::WatchWords* watch_words() const override { return inner_->watch_words(); }
  bool has_failed() const override { return inner_->has_failed(); }
  void wait(base::Time deadline) override { inner_->wait(deadline); }
  void interrupt() override { inner_->interrupt(); }

 private:
  const std::unique_ptr<transport::Carrier> inner_;
  hca::MemoryObserver& observer_;
};

}  // namespace softdat::simnic
