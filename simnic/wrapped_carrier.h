// SPDX-License-Identifier: BSD-2-Clause
// Carriers that stand between a NIC and its real carrier derive from these and override what they change. All else is
// passed on. See also wrapped_port.h and wrapped_channel.h.
#pragma once

#include <memory>
#include <utility>

#include "simnic/wrapped_port.h"
#include "transport/carrier.h"

namespace softdat::simnic {

// Owned by the baton, but for the waits and interrupt().
class WrappedCarrier : public transport::Carrier {
 public:
  explicit WrappedCarrier(std::unique_ptr<transport::Carrier> inner) : inner_(std::move(inner)) {}

  std::size_t turn(base::Time now) override { return inner_->turn(now); }
  transport::Look look() override { return inner_->look(); }
  const transport::WatchWords* watch_words() const override { return inner_->watch_words(); }
  bool has_failed() const override { return inner_->has_failed(); }
  void warm_up() override { inner_->warm_up(); }
  void wait(base::Time deadline) override { inner_->wait(deadline); }
  base::WakeReason wait_cancellably(base::Time deadline) override { return inner_->wait_cancellably(deadline); }
  bool can_wait_cancellably() const override { return inner_->can_wait_cancellably(); }
  void interrupt() override { inner_->interrupt(); }

 protected:
  std::unique_ptr<transport::Carrier> inner_;
};

// Owned by the baton.
class WrappedRequest : public transport::InboundRequest {
 public:
  explicit WrappedRequest(std::unique_ptr<transport::InboundRequest> inner) : inner_(std::move(inner)) {}

  const transport::Offer& offer() const override { return inner_->offer(); }
  bool is_alive() const override { return inner_->is_alive(); }
  void reject(std::span<const std::byte> private_data) override { inner_->reject(private_data); }

 protected:
  const std::unique_ptr<transport::InboundRequest> inner_;
};

}  // namespace softdat::simnic
