// SPDX-License-Identifier: BSD-2-Clause
// ShmCarrier: carries RDMA between carriers of one host and one user, over shared memory. With each
// peer carrier it has one link (two, when both began at once), whatever the number of channels.
//
// Segments are memfds, and every descriptor is closed on exec. The socket files of a process that was killed outlive
// it: its peers remove those that they know, and the next carrier removes the others. A turn looks at one word per link
// while nothing happens, and at the kernel now and then.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "transport/carrier.h"
#include "transport/shm/carrier_parts.h"

namespace softdat::transport::shm {

class ShmCarrier final : public Carrier {
 public:
  // Why this process cannot share memory, in words for the user; empty when it can.
  static std::string problem(const ShmOptions& options);

  // The reactor outlives the carrier.
  ShmCarrier(Reactor& reactor, const ShmOptions& options);
  ~ShmCarrier() override;

  ListenResult listen(std::uint64_t service_id, std::uint32_t backlog, PortSink& sink) override;
  std::unique_ptr<Channel> connect(const Address& remote, const Offer& request, ChannelSink& sink) override;
  std::size_t turn(base::Time now) override;
  void wait(base::Time deadline) override;
  void interrupt() override { parts_.reactor.interrupt(); }
  bool has_failed() const override { return has_failed_; }
  void tap(Tapper* tapper) override;

  // As connect(), but a failure is returned, and the sink is not called: the caller connects by TCP. kNobody: no
  // process of this user serves that id at that address now. is_served() tells whether one does later.
  base::Result<std::unique_ptr<Channel>, LinkConnector::Begin> try_connect(const Address& remote, const Offer& request,
                                                                           ChannelSink& sink);
  bool is_served(const Address& remote, std::uint64_t service_id) const {
    return parts_.rendezvous.is_served(remote, service_id);
  }

  // turn() and wait() without the reactor, for a carrier that shares it with others. A turn is:
  // ask wants_look(), dispatch the reactor if so or if finish_wait() was called since, move().
  std::size_t move(base::Time now);
  bool wants_look(base::Time now);
  Look look() override {
    const bool is_brief = !parts_.attention.has_waited() && parts_.attention.is_calm();
    return is_brief ? Look{.done = static_cast<std::uint32_t>(parts_.links.poll_hot())} : kTakesTurn;
  }
  const WatchWords* watch_words() const override { return &parts_.attention.watch_words(); }
  // There are links, or a peer is being met: a turn may have something to do that the kernel does not tell of.
  bool has_work() const;
  // Without the baton. Tells peers that we are about to sleep. Returns the latest time to sleep until, or
  // Time::min() if there is work. REQUIRES Reactor::prepare_wait(). finish_wait() must follow.
  base::Time prepare_wait();
  void finish_wait();

  // For a carrier that shares the reactor, and for tests. With the baton.
  CarrierParts& parts() { return parts_; }

 private:
  LinkConnector::Begin begin(ShmChannel& channel, const Address& remote, const Offer& request);
  std::size_t move_slow(base::Time now);
  bool is_meeting_nobody() const;
  bool can_be_calm() const;

  CarrierParts parts_;
  // Owned by the baton.
  bool has_failed_ = false;
  std::uint32_t turns_since_look_ = 0;
  base::Time last_look_{};
  base::Time check_links_at_{};
};

}  // namespace softdat::transport::shm
