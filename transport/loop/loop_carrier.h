// SPDX-License-Identifier: BSD-2-Clause
// LoopCarrier: the reference carrier, for peers in the same process. It has no threads, descriptors or clock of its
// own. loop_network.h has the thread rule.
//
// Out of memory, a connection or request ends, as in the other carriers. fail() and LoopNetwork::cut(), which are for
// tests, may throw std::bad_alloc.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <vector>

#include "base/event_count.h"
#include "transport/carrier.h"
#include "transport/loop/loop_network.h"

namespace softdat::transport::loop {

class End;
class LoopPort;
class PassiveEnd;

// What the carrier does with a peer's connect(). For tests.
enum class ConnectPolicy {
  kServe,    // gives it to the port
  kRefuse,   // refuses it with kNoListener
  kSwallow,  // never answers it
};

class LoopCarrier final : public Carrier {
 public:
  // `own` is the address at which peers find it; its port is ignored. Several carriers may share an address and its
  // services.
  LoopCarrier(LoopNetwork& network, const Address& own);
  ~LoopCarrier() override;  // peers of channels that are still open get kLost

  ListenResult listen(std::uint64_t service_id, std::uint32_t backlog, PortSink& sink) override;
  std::unique_ptr<Channel> connect(const Address& remote, const Offer& request, ChannelSink& sink) override;
  std::size_t turn(base::Time now) override;
  void wait(base::Time deadline) override;
  void interrupt() override;

  // Simulates the death of the process: sinks of this carrier are not called again, peers get kLost, and the address
  // becomes unreachable. All objects may still be destroyed. For tests.
  void kill();

  // Simulates the loss of the carrier's descriptors: in the next turn its own sinks get kLost or are refused with
  // kUnreachable, peers too, and the address becomes unreachable. For tests.
  void fail();
  bool has_failed() const override { return has_failed_; }

  void set_connect_policy(ConnectPolicy policy) { policy_ = policy; }
  const Address& own() const { return own_; }

  // For ends. The end has work for a turn.
  void note_busy(const std::shared_ptr<End>& end);
  // A peer's request has come.
  void serve_request(const std::shared_ptr<PassiveEnd>& end, const Offer& offer);

 private:
  friend class LoopPort;
  friend class LoopNetwork;

  void break_down();
  void leave_network();
  void make_room();  // throws std::bad_alloc
  std::size_t serve(End& end);

  LoopNetwork& network_;
  const Address own_;
  // Guarded by the network's lock.
  bool is_alive_ = true;
  bool must_fail_ = false;  // in the next turn
  bool has_failed_ = false;
  ConnectPolicy policy_ = ConnectPolicy::kServe;
  std::map<std::uint64_t, LoopPort*> ports_;
  std::vector<std::shared_ptr<End>> busy_;     // ends of this carrier with work for a turn
  std::vector<std::shared_ptr<End>> in_turn_;  // those that the present turn serves

  // Written by the holder of the baton and by interrupt(), read by wait(). Both stores are sequentially consistent and
  // come before activity_.notify(), as EventCount requires.
  std::atomic<bool> has_work_{false};
  std::atomic<bool> interrupted_{false};
  base::EventCount activity_;
};

}  // namespace softdat::transport::loop
