// SPDX-License-Identifier: BSD-2-Clause
// TcpPort: a listening socket. Each accepted socket becomes a Connection. REQUIRES of every call: the baton.
#pragma once

#include <memory>

#include "base/result.h"
#include "base/unique_fd.h"
#include "transport/carrier.h"
#include "transport/reactor.h"
#include "transport/tcp/hub.h"
#include "transport/tcp/port_state.h"

namespace softdat::transport::tcp {

// Two sockets that make a port: the one that listens, and the one that keeps the service id
// (claim_service; empty where the TCP port itself does).
struct PortSockets {
  base::UniqueFd listener{};
  base::UniqueFd claim{};
  std::uint16_t port = 0;
};

// Finds the port for a service id, or says why there is none.
base::Result<PortSockets, ListenError> open_port(const TcpOptions& options, std::uint64_t service_id);

// Hangs up on those who ask whose claim it is (claim_service), so that its queue does not fill up. With a full queue
// another listener could not see that the service id is taken.
class ClaimDoor final : private ReadinessSink {
 public:
  // Watches nothing if `claim` is empty.
  ClaimDoor(Reactor& reactor, base::UniqueFd claim);

 private:
  void on_ready(std::uint32_t readiness) override;

  base::UniqueFd claim_;
  std::unique_ptr<Reactor::Watch> watch_;
};

class TcpPort final : public Port, private ReadinessSink, private base::Timer {
 public:
  TcpPort(Hub& hub, PortSockets sockets, std::uint64_t service_id, std::uint32_t backlog, PortSink& sink);
  ~TcpPort() override;

  // False when the reactor cannot watch it.
  bool start();
  // As if it had gone, though its owner keeps it.
  void abandon();

 private:
  void on_ready(std::uint32_t readiness) override;
  void on_timer() override;
  bool is_open() const { return watch_ != nullptr; }
  void complain(int error);

  Hub& hub_;
  PortSockets sockets_;
  std::unique_ptr<ClaimDoor> claim_door_;
  const SharedPort state_;
  std::unique_ptr<Reactor::Watch> watch_;
  bool is_short_of_descriptors_ = false;
};

}  // namespace softdat::transport::tcp
