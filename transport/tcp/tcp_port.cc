// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/tcp_port.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "base/descriptor_shortage.h"
#include "base/log.h"
#include "base/socket_holder.h"
#include "transport/tcp/connection.h"
#include "transport/tcp/service_port.h"
#include "transport/tcp/socket.h"

namespace softdat::transport::tcp {
namespace {

// In one turn; the rest waits in the kernel. Beside traffic fewer, for each costs as much as some messages.
constexpr int kAcceptsPerTurn = 64;
constexpr int kAcceptsBesideTraffic = 2;
constexpr auto kRetryAccept = std::chrono::milliseconds(100);

ListenError to_listen_error(int error) {
  if (error == EADDRINUSE) return ListenError::kAddressInUse;
  return error == EACCES || error == EPERM ? ListenError::kNotPermitted : ListenError::kNoResources;
}

// The first port of the sequence that can be had. When none can: the last reason.
base::Result<PortSockets, ListenError> open_first(const TcpOptions& options, std::uint64_t service_id) {
  ListenError reason = ListenError::kNoResources;
  for (const std::uint16_t port : ports_of(service_id)) {
    auto listener = open_listener(options, port);
    if (listener.ok()) return PortSockets{.listener = std::move(listener).value(), .port = port};
    reason = to_listen_error(listener.reason());
    // The id's own port is the only one that foreign peers know, so a port that is in use there is the answer.
    const bool is_own_port = port == service_id;
    if (is_own_port && reason == ListenError::kNotPermitted) {
      base::log(base::LogLevel::kNotice, "service %u: not allowed to listen on that TCP port, using another",
                static_cast<unsigned>(port));
    } else if (is_own_port && reason == ListenError::kAddressInUse) {
      base::blame_holder_of_tcp_port(port);
      return base::Failure{reason};
    } else if (is_own_port || reason == ListenError::kNoResources) {
      base::log(base::LogLevel::kNotice, "cannot listen on TCP port %u: %s", static_cast<unsigned>(port),
                std::strerror(listener.reason()));
      return base::Failure{reason};
    }
  }
  // All of them taken, and not by this service: the claim would have said so.
  return base::Failure{ListenError::kNoResources};
}

}  // namespace

base::Result<PortSockets, ListenError> open_port(const TcpOptions& options, std::uint64_t service_id) {
  base::UniqueFd claim;
  if (!is_port(service_id) || service_id < 1024) {
    // Ports of a sequence may differ between two listeners of one id, so the claim is what keeps an id to one listener.
    auto claimed = claim_service(options.address, service_id);
    if (!claimed.ok()) return base::Failure{to_listen_error(claimed.reason())};
    claim = std::move(claimed).value();
  }
  auto sockets = open_first(options, service_id);
  if (sockets.ok()) sockets->claim = std::move(claim);
  return sockets;
}

ClaimDoor::ClaimDoor(Reactor& reactor, base::UniqueFd claim)
    : claim_(std::move(claim)), watch_(claim_ ? reactor.watch(claim_.get(), *this) : nullptr) {
  if (watch_) watch_->want(kReadable);
}

void ClaimDoor::on_ready(std::uint32_t) {
  while (accept_one(claim_.get()).ok()) continue;
  watch_->want(kReadable);
}

TcpPort::TcpPort(Hub& hub, PortSockets sockets, std::uint64_t service_id, std::uint32_t backlog, PortSink& sink)
    : hub_(hub),
      sockets_(std::move(sockets)),
      claim_door_(std::make_unique<ClaimDoor>(hub.reactor(), std::move(sockets_.claim))),
      state_(std::make_shared<PortState>(PortState{.service_id = service_id,
                                                   .port = sockets_.port,
                                                   .backlog = std::max<std::size_t>(backlog, 1),
                                                   .sink = &sink})) {}

TcpPort::~TcpPort() {
  abandon();
}

void TcpPort::abandon() {
  state_->sink = nullptr;
  cancel_timer();
  watch_.reset();
  claim_door_.reset();
  sockets_ = {};
}

bool TcpPort::start() {
  SOFTDAT_DEBUG_CHECK(!is_open(), "a port starts once");
  watch_ = hub_.reactor().watch(sockets_.listener.get(), *this);
  if (!watch_) return false;
  watch_->want(kReadable);
  return true;
}

// The request's sink may destroy this port: after each request, no member is read unless `state` has a sink.
void TcpPort::on_ready(std::uint32_t) {
  SOFTDAT_DEBUG_CHECK(is_open() && state_->sink != nullptr, "the reactor calls a port that is open");
  const SharedPort state = state_;
  Hub& hub = hub_;
  const int most = hub.has_active() ? kAcceptsBesideTraffic : kAcceptsPerTurn;
  for (int i = 0; i < most; ++i) {
    auto fd = accept_one(sockets_.listener.get());
    if (fd.ok()) {
      is_short_of_descriptors_ = false;
      hub.note_done();
      Connection::welcome(hub, std::move(fd).value(), state);
      if (state->sink == nullptr) return;
      continue;
    }
    if (!base::is_short_of_descriptors(fd.reason())) break;
    // The kernel says so before it looks whether anybody is there at all.
    const SpareDescriptor::TurnedAway outcome = hub.spare().turn_away(sockets_.listener.get());
    if (outcome == SpareDescriptor::TurnedAway::kNobodyThere) break;
    complain(fd.reason());
    if (outcome == SpareDescriptor::TurnedAway::kNoSpare) return hub_.timers().set_after(*this, kRetryAccept);
  }
  watch_->want(kReadable);
}

// Once, until there are descriptors again: peers may try often.
void TcpPort::complain(int error) {
  if (std::exchange(is_short_of_descriptors_, true)) return;
  base::log(base::LogLevel::kWarning, "cannot accept connections on TCP port %u: %s",
            static_cast<unsigned>(sockets_.port), std::strerror(error));
}

void TcpPort::on_timer() {
  if (is_open()) watch_->want(kReadable);
}

}  // namespace softdat::transport::tcp
