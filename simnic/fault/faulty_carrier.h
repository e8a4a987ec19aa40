// SPDX-License-Identifier: BSD-2-Clause
// FaultyCarrier: a carrier between a NIC and its real carrier, which exists only if there is a fault plan. Every
// channel of it is a FaultyChannel. Channels for datagrams pass unchanged.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>

#include "base/timers.h"
#include "simnic/fault/injector.h"
#include "simnic/rnr_policy.h"
#include "simnic/wrapped_carrier.h"

namespace softdat::simnic {
class Engine;
}

namespace softdat::simnic::fault {

class FaultyChannel;
class FaultyQueuePair;

base::Duration to_duration(double ms);
// The ms= of the rule; nothing where it has none.
std::optional<base::Duration> time_of(const base::FaultRule& rule);

// What the plan has in store for one connect of the consumer's, however often it is tried.
struct ConnectFate {
  std::optional<transport::Refusal> refusal{};
  bool is_ignored = false;
  base::Time leaves_at{};                     // not before; the same for every try
  std::optional<std::size_t> private_data{};  // the most bytes of it
  bool is_dropped = false;                    // as soon as it is established
};

// One endpoint's queue pair.
struct EndpointState {
  FaultyQueuePair* queue_pair = nullptr;  // null: destroyed
  std::uint64_t connects = 0;
  std::uint64_t accepts = 0;
  std::uint32_t connections = 0;      // that were established
  std::optional<ConnectFate> fate{};  // of the connect under way; empty: not decided yet
  Counts begun{};                     // of the stage kConnection
};

// Owned by the baton, but for attach().
class FaultyCarrier final : public WrappedCarrier {
 public:
  // `port_base`: as NicConfig's.
  FaultyCarrier(std::unique_ptr<transport::Carrier> inner, std::shared_ptr<const Injector> injector, RnrPolicy rnr,
                std::uint32_t port_base)
      : WrappedCarrier(std::move(inner)), injector_(std::move(injector)), rnr_(rnr), port_base_(port_base) {}

  // Before the first call of listen() or connect().
  void attach(Engine& engine) { engine_ = &engine; }

  transport::ListenResult listen(std::uint64_t service_id, std::uint32_t backlog, transport::PortSink& sink) override;
  std::unique_ptr<transport::Channel> connect(const transport::Address& remote, const transport::Offer& request,
                                              transport::ChannelSink& sink) override;
  std::size_t turn(base::Time now) override;
  transport::Look look() override { return is_failing_ ? kTakesTurn : inner_->look(); }
  const transport::WatchWords* watch_words() const override { return nullptr; }  // what is held back changes no word
  bool has_failed() const override { return has_failed_ || inner_->has_failed(); }
  // Whether no connection may begin any more.
  bool is_lost() const { return has_failed_ || is_failing_; }

  // For channels and queue pairs.
  const Injector& injector() const { return *injector_; }
  transport::Carrier& inner() { return *inner_; }
  RnrPolicy rnr() const { return rnr_; }
  // The number of the endpoint that has this address: a queue pair names itself by its port (Nic::create_qp).
  std::uint32_t endpoint_of(const transport::Address& own) const { return own.port - 1u - port_base_; }
  EndpointState& endpoint(std::uint32_t number) { return endpoints_[number]; }
  std::set<FaultyChannel*>& channels() { return channels_; }
  base::Time now() const;
  void set(base::Timer& timer, base::Duration after);

  // The adapter fails at the next turn.
  void fail();
  // Stops sending to this peer (none: to every peer) for that time (none: for ever).
  void hold(const std::optional<transport::Address>& peer, std::optional<base::Duration> time);
  // Until when nothing leaves towards the peer. A time that has passed: it is free.
  base::Time held_until(const transport::Address& peer) const;

  ConnectFate decide_connect(std::uint32_t endpoint, base::FaultOp op, std::uint64_t number,
                             const transport::Offer& offer, const transport::Address& peer);

 private:
  void fail_all();

  const std::shared_ptr<const Injector> injector_;
  const RnrPolicy rnr_;
  const std::uint32_t port_base_;
  Engine* engine_ = nullptr;
  std::map<std::uint32_t, EndpointState> endpoints_;
  std::set<FaultyChannel*> channels_;
  std::map<transport::Address, base::Time> parted_;  // from hosts (port 0), until then
  base::Time stopped_until_{};
  bool is_failing_ = false;
  bool has_failed_ = false;
};

}  // namespace softdat::simnic::fault
