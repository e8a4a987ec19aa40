// SPDX-License-Identifier: BSD-2-Clause
// AutoCarrier: uses shared memory for peers that it can reach that way, and TCP for all others; or only one of the two.
// Both halves share one reactor, so one wait() covers both.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "transport/carrier.h"
#include "transport/reactor.h"
#include "transport/shm/shm_carrier.h"
#include "transport/tcp/tcp_carrier.h"

namespace softdat::transport {

class AutoCarrier final : public Carrier {
 public:
  // `own` is this carrier's address. REQUIRES: at least one half is wanted. If memory cannot be shared, TCP serves
  // alone and a warning says why; throws std::system_error if TCP is not wanted.
  struct Halves {
    bool shm = true;
    bool tcp = true;
  };
  AutoCarrier(const Address& own, Halves halves, const shm::ShmOptions& shm_options, const tcp::TcpOptions& tcp_options,
              std::unique_ptr<Reactor> reactor = Reactor::create());
  ~AutoCarrier() override;

  // Listens on both halves or on none; on TCP alone if no socket file can be made.
  ListenResult listen(std::uint64_t service_id, std::uint32_t backlog, PortSink& sink) override;
  // Over shared memory if the address is this host's and a process of this user listens there; else over TCP.
  // Neighbours that talk by TCP say so, once in each process (tcp/neighbours.h).
  std::unique_ptr<Channel> connect(const Address& remote, const Offer& request, ChannelSink& sink) override;
  std::size_t turn(base::Time now) override;
  Look look() override;
  const WatchWords* watch_words() const override { return shm_ ? shm_->watch_words() : nullptr; }
  void warm_up() override;
  void wait(base::Time deadline) override;
  base::WakeReason wait_cancellably(base::Time deadline) override;
  bool can_wait_cancellably() const override { return reactor_->can_wait_cancellably(); }
  void interrupt() override;
  std::unique_ptr<Reactor::Watch> watch(int fd, ReadinessSink& sink) override { return reactor_->watch(fd, sink); }
  void tap(Tapper* tapper) override;
  bool has_failed() const override;

 private:
  // For how many turns and looks TCP counts as busy after it did something.
  static constexpr std::uint32_t kTcpStaysBusy = 256;

  class Waiting;
  bool wants_look(base::Time now);
  std::size_t take_records_first(base::Time now);
  Look look_by_tcp();
  void note_tcp(std::size_t done) {
    tcp_busy_turns_ = done > 0 ? kTcpStaysBusy : tcp_busy_turns_ - (tcp_busy_turns_ > 0);
  }
  bool is_tcp_idle() const { return !tcp_ || (tcp_busy_turns_ == 0 && tcp_->is_still()); }
  bool may_share_memory_with(const Address& remote) const;

  // Fixed after construction; either half may be null.
  const Address own_;
  const std::unique_ptr<Reactor> reactor_;
  std::unique_ptr<shm::ShmCarrier> shm_;
  std::unique_ptr<tcp::TcpCarrier> tcp_;
  // Owned by the baton: for how many turns more TCP counts as busy, and whether the next turn has to hear the kernel.
  std::uint32_t tcp_busy_turns_ = 0;
  bool is_kernel_next_ = false;
  // Set by wait(), cleared with the baton: the wait may have found something to be told.
  std::atomic<bool> has_waited_{false};
};

}  // namespace softdat::transport
