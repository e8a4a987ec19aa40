// SPDX-License-Identifier: BSD-2-Clause
// ShmPort: listens for one service id: a rendezvous socket, through which peers without a link get one, and the entry
// under which requests on every link are delivered.
//
// Ownership: the caller of Carrier::listen() owns the port, the Introductions own the PendingAccepts. The carrier must
// outlive both. Threads: every call and the destructors REQUIRE the baton. The reactor calls on_ready() in a turn of
// the carrier. Errors: want of descriptors or of memory refuses nobody. The port rests and is looked at again, or the
// peer is hung up on and tries again.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "transport/carrier.h"
#include "transport/reactor.h"
#include "transport/shm/reaper.h"
#include "transport/shm/rendezvous.h"
#include "transport/shm/shm_request.h"

namespace softdat::transport::shm {

struct CarrierParts;

class ShmPort final : public Port, public ReadinessSink {
 public:
  ShmPort(CarrierParts& carrier, std::uint64_t service_id, std::uint32_t backlog, PortSink& sink, Listening listening);
  ~ShmPort() override;

  // False when the system does not let us watch our socket.
  bool is_open() const { return watch_ != nullptr; }
  // As many requests are unanswered as the backlog allows: a further one is refused.
  bool is_full() const { return *unanswered_ >= std::max<std::size_t>(backlog_, 1); }
  const Unanswered& unanswered() const { return unanswered_; }
  PortSink& sink() const { return sink_; }
  // Ends a rest that it has asked its carrier for.
  void look_again() { watch_->want(kReadable); }

  void on_ready(std::uint32_t readiness) override;

 private:
  CarrierParts& carrier_;
  const std::uint64_t service_id_;
  const std::uint32_t backlog_;
  PortSink& sink_;
  const Unanswered unanswered_ = std::make_shared<std::size_t>(0);
  SocketFile file_;
  base::UniqueFd listener_;
  std::unique_ptr<Reactor::Watch> watch_;
};

// A peer that has reached a rendezvous and has yet to say Hello.
class PendingAccept final : public ReadinessSink {
 public:
  PendingAccept(CarrierParts& carrier, PeerSocket socket);

  bool is_done() const { return is_done_; }
  // Hangs up on a peer that has said nothing for too long. The time runs from the first call.
  void give_up_if_late(base::Time now) {
    if (deadline_ == base::kNever) deadline_ = base::deadline_after(now, kHelloPatience);
    is_done_ |= now >= deadline_;
  }
  void on_ready(std::uint32_t readiness) override;

 private:
  // A peer says Hello as soon as it has connected.
  static constexpr base::Duration kHelloPatience = std::chrono::seconds(5);

  CarrierParts& carrier_;
  base::Time deadline_ = base::kNever;
  PeerSocket socket_;
  std::unique_ptr<Reactor::Watch> watch_;
  bool is_done_ = false;
};

}  // namespace softdat::transport::shm
