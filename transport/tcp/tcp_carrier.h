// SPDX-License-Identifier: BSD-2-Clause
// TcpCarrier: RDMA over TCP as iWARP speaks it (docs/WIRE.md), to SoftDAT peers and to foreign
// ones.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_set>
#include <utility>

#include "transport/carrier.h"
#include "transport/tcp/hub.h"
#include "transport/tcp/tcp_options.h"

namespace softdat::transport::tcp {

class TcpPort;

class TcpCarrier final : public Carrier {
 public:
  // The reactor outlives the carrier.
  TcpCarrier(Reactor& reactor, const TcpOptions& options);
  // Brings out what closed channels still had to send: for options.linger at most after an orderly close, else for
  // options.prompt_linger. What the peer has not taken by then is dropped by a reset.
  ~TcpCarrier() override;

  ListenResult listen(std::uint64_t service_id, std::uint32_t backlog, PortSink& sink) override;
  // Only the address of `remote` counts; which port it is follows from the service id.
  std::unique_ptr<Channel> connect(const Address& remote, const Offer& request, ChannelSink& sink) override;
  std::size_t turn(base::Time now) override;
  Look look() override;
  void wait(base::Time deadline) override;
  void interrupt() override;
  bool has_failed() const override { return has_failed_; }
  void tap(Tapper* tapper) override;

  // A better way to the service may have come while TCP connected: `is_served_elsewhere` is asked before each request
  // is sent. True: the connect is refused (kNoListener), so that its owner tries again. Called with the baton.
  void ask_before_requests(ServedElsewhere is_served_elsewhere) {
    hub_.ask_before_requests(std::move(is_served_elsewhere));
  }

  // turn() and wait() in parts, for a carrier that shares the reactor with others. A turn is move(),
  // then Reactor::dispatch(), looking at the kernel if wants_look() or somebody else does, then
  // settle(), which returns what turn() would. A wait lasts at most until wait_until(), which is
  // Time::min() when there is work; any thread may ask it.
  void move(base::Time now) { hub_.move(now); }
  bool wants_look() { return hub_.wants_look(); }
  // Nothing is to be done but perhaps what the kernel or the clock would tell of.
  bool is_still() const { return hub_.is_still(); }
  bool has_connections() const { return hub_.has_connections(); }
  std::size_t settle(base::Time now);
  base::Time wait_until() { return hub_.wait_until(); }

  // The death of this process, for tests: every socket goes at once without a word, and no sink
  // hears anything more. Everything made here may still be destroyed.
  void kill();

 private:
  class OwnedPort;
  void break_down();

  Hub hub_;
  std::unordered_set<TcpPort*> ports_;
  bool is_alive_ = true;
  bool has_failed_ = false;
};

}  // namespace softdat::transport::tcp
