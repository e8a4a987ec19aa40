// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/tcp_carrier.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/uncancelled.h"
#include "transport/tcp/connection.h"
#include "transport/tcp/request.h"
#include "transport/tcp/tcp_port.h"

namespace softdat::transport::tcp {

// A port that its carrier can find, to end it in kill().
class TcpCarrier::OwnedPort final : public Port {
 public:
  OwnedPort(TcpCarrier& carrier, std::unique_ptr<TcpPort> port) : carrier_(carrier), port_(std::move(port)) {
    carrier_.ports_.insert(port_.get());
  }
  ~OwnedPort() override { carrier_.ports_.erase(port_.get()); }

 private:
  TcpCarrier& carrier_;
  const std::unique_ptr<TcpPort> port_;
};

TcpCarrier::TcpCarrier(Reactor& reactor, const TcpOptions& options) : hub_(reactor, options) {}

TcpCarrier::~TcpCarrier() {
  base::check(ports_.empty(), "a port ends before its carrier, which it names", ports_.size());
  const base::Time now = base::Clock::now();
  const base::Time orderly = base::deadline_after(now, hub_.options().linger);
  const base::Time prompt = base::deadline_after(now, hub_.options().prompt_linger);
  // One deadline for all: closing the adapter takes `linger` at most, however many connections there are.
  while (const SharedConnection connection = hub_.connections().any()) connection->teardown().finish(orderly, prompt);
}

ListenResult TcpCarrier::listen(std::uint64_t service_id, std::uint32_t backlog, PortSink& sink) {
  if (!is_alive_ || has_failed_) return {nullptr, ListenError::kNoResources};
  auto sockets = open_port(hub_.options(), service_id);
  if (!sockets.ok()) return {nullptr, sockets.reason()};
  auto port = std::make_unique<TcpPort>(hub_, std::move(sockets).value(), service_id, backlog, sink);
  if (!port->start()) return {nullptr, ListenError::kNoResources};
  return {std::make_unique<OwnedPort>(*this, std::move(port))};
}

std::unique_ptr<Channel> TcpCarrier::connect(const Address& remote, const Offer& request, ChannelSink& sink) {
  const SharedConnection connection = Connection::prepare(hub_, remote, request, sink);
  // The channel first: what has begun when memory runs out ends with it, and the sink is not heard of again.
  auto channel = std::make_unique<TcpChannel>(connection);
  connection->dial();
  if (Tapper* const tapper = hub_.connections().tapper()) connection->join_tap(*tapper);
  return channel;
}

void TcpCarrier::tap(Tapper* tapper) {
  hub_.connections().for_each([](Connection& connection) { connection.owner().end_tap(); });
  hub_.connections().set_tapper(tapper);
  if (tapper == nullptr) return;
  hub_.connections().for_each([tapper](Connection& connection) { connection.join_tap(*tapper); });
}

std::size_t TcpCarrier::turn(base::Time now) {
  if (!is_alive_) return 0;
  hub_.move(now);
  hub_.reactor().dispatch(hub_.wants_look());
  return settle(now);
}

Look TcpCarrier::look() {
  if (!is_alive_ || !hub_.may_look()) return kTakesTurn;
  return {.done = static_cast<std::uint32_t>(hub_.look()), .asks_kernel = true};
}

std::size_t TcpCarrier::settle(base::Time now) {
  // The program has closed our descriptors. Every connection is lost, and its sink hears so.
  if (hub_.reactor().has_failed() && !std::exchange(has_failed_, true)) break_down();
  return hub_.settle(now);
}

void TcpCarrier::break_down() {
  const base::Uncancelled guard;
  hub_.note_done();
  for (TcpPort* const port : ports_) port->abandon();
  while (const SharedConnection connection = hub_.connections().any()) connection->teardown().lose();
}

void TcpCarrier::wait(base::Time deadline) {
  hub_.reactor().wait(std::min(deadline, hub_.wait_until()));
}

void TcpCarrier::interrupt() {
  hub_.reactor().interrupt();
}

void TcpCarrier::kill() {
  // For tests: ends as a process that was killed, without a word to sinks or peers.
  if (!std::exchange(is_alive_, false)) return;
  for (TcpPort* const port : ports_) port->abandon();
  while (const SharedConnection connection = hub_.connections().any()) connection->end();
}

}  // namespace softdat::transport::tcp
