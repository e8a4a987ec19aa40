// SPDX-License-Identifier: BSD-2-Clause
// LinkConnector: on the way from a service's rendezvous to a link with the process that serves it.
// Channels wait here until there is one. Owned by the Introductions; called with the baton.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "transport/reactor.h"
#include "transport/shm/handshake.h"
#include "transport/shm/reaper.h"
#include "transport/shm/rendezvous.h"
#include "transport/shm/shm_channel.h"

namespace softdat::transport::shm {

class Link;
struct CarrierParts;

class LinkConnector final : public ReadinessSink {
 public:
  enum class Begin { kUnderWay, kNobody, kNoResources };
  static constexpr base::Duration kRetryPause = std::chrono::milliseconds(1);

  LinkConnector(CarrierParts& carrier, const ServiceKey& key) : carrier_(carrier), key_(key) {}

  // Looks for the rendezvous. Only kUnderWay leaves something to wait for.
  Begin begin();
  void add(ShmChannel& channel) { waiting_.push_back(channel); }
  // Tries again if it is time to. A connector that cannot go on at once asks for this.
  void retry_if_due(base::Time now);
  // Gives up an attempt that no connect has waited for lately. The time runs from the first call that finds none.
  void give_up_if_unwanted(base::Time now);
  bool is_retrying() const { return is_retrying_; }
  bool is_done() const { return is_done_; }
  // Refuses all channels that wait.
  void give_up(Refusal reason);

  void on_ready(std::uint32_t readiness) override;

 private:
  void take(Welcome welcome);
  void retry_later();
  void resolve(Link& link);

  CarrierParts& carrier_;
  const ServiceKey key_;
  Sender self_;  // as the last hello said
  PeerSocket socket_;
  std::unique_ptr<Reactor::Watch> watch_;
  ChannelQueue waiting_;
  int attempts_ = 0;
  bool is_retrying_ = false;
  std::optional<base::Time> retry_at_;
  std::optional<base::Time> unwanted_at_;  // when the attempt is given up; empty while connects wait
  bool is_done_ = false;
};

}  // namespace softdat::transport::shm
