// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/fault/faulty_carrier.h"

#include <algorithm>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "simnic/engine.h"
#include "simnic/fault/faulty_channel.h"
#include "simnic/wrapped_port.h"

namespace softdat::simnic::fault {
namespace {

using base::FaultKind;
using transport::Address;
using transport::ChannelSink;
using transport::InboundRequest;
using transport::Offer;

class FaultyRequest final : public WrappedRequest {
 public:
  FaultyRequest(FaultyCarrier& carrier, std::unique_ptr<InboundRequest> inner)
      : WrappedRequest(std::move(inner)), carrier_(carrier) {}

  std::unique_ptr<transport::Channel> accept(const Offer& reply, ChannelSink& sink) override {
    if (is_of_datagrams(offer())) return inner_->accept(reply, sink);
    if (carrier_.is_lost()) return nullptr;
    const std::uint32_t endpoint = carrier_.endpoint_of(reply.address);
    const Address peer = offer().address;
    const std::uint64_t number = ++carrier_.endpoint(endpoint).accepts;
    const ConnectFate fate = carrier_.decide_connect(endpoint, base::FaultOp::kAccept, number, reply, peer);
    Offer answer = reply;
    if (fate.private_data) answer.private_data.resize(std::min(answer.private_data.size(), *fate.private_data));
    auto channel = std::make_unique<FaultyChannel>(carrier_, endpoint, peer, sink);
    return channel->accept(*inner_, answer, fate) ? std::move(channel) : nullptr;
  }

 private:
  FaultyCarrier& carrier_;
};

transport::Refusal refusal_of(std::string_view reason) {
  if (reason == "rejected") return transport::Refusal::kByConsumer;
  return reason == "unreachable" ? transport::Refusal::kUnreachable : transport::Refusal::kNoListener;
}

}  // namespace

base::Duration to_duration(double ms) {
  return std::chrono::duration_cast<base::Duration>(std::chrono::duration<double, std::milli>(ms));
}

std::optional<base::Duration> time_of(const base::FaultRule& rule) {
  return rule.ms ? std::optional(to_duration(*rule.ms)) : std::nullopt;
}

transport::ListenResult FaultyCarrier::listen(std::uint64_t service_id, std::uint32_t backlog,
                                              transport::PortSink& sink) {
  if (is_lost()) return {nullptr, transport::ListenError::kNoResources};
  const auto wrap = [this](std::unique_ptr<InboundRequest> request) -> std::unique_ptr<InboundRequest> {
    if (is_lost() && !is_of_datagrams(request->offer())) return nullptr;
    return std::make_unique<FaultyRequest>(*this, std::move(request));
  };
  return WrappedPort::listen(*inner_, service_id, backlog, sink, wrap);
}

std::unique_ptr<transport::Channel> FaultyCarrier::connect(const Address& remote, const Offer& request,
                                                           ChannelSink& sink) {
  if (is_of_datagrams(request)) return inner_->connect(remote, request, sink);
  const std::uint32_t number = endpoint_of(request.address);
  EndpointState& state = endpoint(number);
  // One decision for each dat_ep_connect: while nobody listens, the queue pair asks the carrier again and again.
  if (!state.fate) state.fate = decide_connect(number, base::FaultOp::kConnect, state.connects, request, remote);
  auto channel = std::make_unique<FaultyChannel>(*this, number, remote, sink);
  ConnectFate fate = *state.fate;
  if (is_lost()) fate.refusal = transport::Refusal::kUnreachable;
  channel->connect(request, fate);
  return channel;
}

// All rules that fire apply together; of several with the same effect the last one counts, and delays add up.
ConnectFate FaultyCarrier::decide_connect(std::uint32_t endpoint_number, base::FaultOp op, std::uint64_t number,
                                          const Offer& offer, const Address& peer) {
  const Point point{.stage = base::FaultStage::kConnection,
                    .op = op,
                    .endpoint = endpoint_number,
                    .number = number,
                    .size = offer.private_data.size(),
                    .peer = peer};
  ConnectFate fate;
  base::Duration delay{};
  for (const base::FaultRule* rule : injector_->decide(point, endpoint(endpoint_number).begun)) {
    injector_->note(*rule, point);
    if (rule->kind == FaultKind::kRefuseConnect) fate.refusal = refusal_of(rule->word);
    if (rule->kind == FaultKind::kIgnoreConnect) fate.is_ignored = true;
    if (rule->kind == FaultKind::kDelayConnect) delay += to_duration(*rule->ms);
    if (rule->kind == FaultKind::kCutPrivateData) fate.private_data = rule->bytes;
    if (rule->kind == FaultKind::kDropConnection) fate.is_dropped = true;
    if (rule->kind == FaultKind::kPartition) hold(peer, time_of(*rule));
  }
  fate.leaves_at = base::deadline_after(now(), delay);
  return fate;
}

std::size_t FaultyCarrier::turn(base::Time now) {
  const std::size_t moved = inner_->turn(now);
  if (!is_failing_) return moved;
  fail_all();
  return moved + 1;
}

base::Time FaultyCarrier::now() const {
  return engine_->now();
}

void FaultyCarrier::set(base::Timer& timer, base::Duration after) {
  engine_->timers().set(timer, base::deadline_after(engine_->now(), after));
}

void FaultyCarrier::fail() {
  if (has_failed_) return;
  is_failing_ = true;
  // The next turn fails all channels; here a call of one of them is on the stack.
  inner_->interrupt();
}

void FaultyCarrier::fail_all() {
  // A copy, because a sink may destroy its channel, or others.
  std::vector<FaultyChannel*> all;
  try {
    all.assign(channels_.begin(), channels_.end());
  } catch (const std::bad_alloc&) {
    return inner_->interrupt();  // the next turn tries again
  }
  is_failing_ = false;
  has_failed_ = true;
  for (FaultyChannel* const channel : all) {
    if (channels_.contains(channel)) channel->lose();
  }
}

// Without a peer: everything this adapter sends is held, as if its host had stopped.
void FaultyCarrier::hold(const std::optional<Address>& peer, std::optional<base::Duration> time) {
  const base::Time until = time ? base::deadline_after(now(), *time) : base::kNever;
  base::Time& entry = peer ? parted_[peer->with_port(0)] : stopped_until_;
  entry = std::max(entry, until);
  for (FaultyChannel* const channel : channels_) {
    if (!peer || channel->peer().with_port(0) == peer->with_port(0)) channel->hold_until(entry);
  }
}

base::Time FaultyCarrier::held_until(const Address& peer) const {
  const auto found = parted_.find(peer.with_port(0));
  return found == parted_.end() ? stopped_until_ : std::max(stopped_until_, found->second);
}

}  // namespace softdat::simnic::fault
