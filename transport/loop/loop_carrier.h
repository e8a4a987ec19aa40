// SPDX-License-Identifier: BSD-2-Clause
// LoopCarrier: the reference carrier. Keeps the contracts of carrier.h and channel.h to the letter,
// without threads, descriptors or time of its own; see loop_network.h for the thread rule.
//
// Want of memory costs the connection or request that it concerns, as in the other carriers; break-downs and cuts,
// which are for tests, ask for memory and have no answer.
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

// What becomes of a peer's connect() once it has reached this carrier.
enum class ConnectPolicy {
  kServe,    // goes to the port, as it should
  kRefuse,   // answered kNoListener
  kSwallow,  // never answered
};

class LoopCarrier final : public Carrier {
 public:
  // `own` is where peers find it; the port means nothing. Several may be at one address, and share its services.
  LoopCarrier(LoopNetwork& network, const Address& own);
  ~LoopCarrier() override;  // peers of channels still open hear kLost

  ListenResult listen(std::uint64_t service_id, std::uint32_t backlog, PortSink& sink) override;
  std::unique_ptr<Channel> connect(const Address& remote, const Offer& request, ChannelSink& sink) override;
  std::size_t turn(base::Time now) override;
  void wait(base::Time deadline) override;
  void interrupt() override;

  // The death of this process: nothing is delivered here any more, its sinks hear nothing more, its
  // peers hear kLost, and its address is unreachable. Everything made here may still be destroyed.
  void kill();

  // The end of what this carrier stands on: its own sinks hear kLost (or a refusal as kUnreachable) in its next turn,
  // its peers too, and its address is unreachable from then on.
  void fail();
  bool has_failed() const override { return has_failed_; }

  void set_connect_policy(ConnectPolicy policy) { policy_ = policy; }
  const Address& own() const { return own_; }

 private:
  friend class End;
  friend class LoopPort;
  friend class LoopNetwork;

  void break_down();
  void leave_network();
  void make_room();  // throws std::bad_alloc
  void note_busy(const std::shared_ptr<End>& end);
  void serve_request(const std::shared_ptr<End>& end, const Offer& offer);
  std::size_t serve(End& end);

  LoopNetwork& network_;
  const Address own_;
  // Guarded by the network's lock.
  bool is_alive_ = true;
  bool must_fail_ = false;  // in the next turn
  bool has_failed_ = false;
  ConnectPolicy policy_ = ConnectPolicy::kServe;
  std::map<std::uint64_t, LoopPort*> ports_;
  std::vector<std::shared_ptr<End>> busy_;     // ends of ours that a turn has something to do for
  std::vector<std::shared_ptr<End>> in_turn_;  // those that the present turn serves

  // Written by whoever holds the baton or interrupts; read by wait(). Both stores are sequentially
  // consistent and come before activity_.notify(), as EventCount asks.
  std::atomic<bool> has_work_{false};
  std::atomic<bool> interrupted_{false};
  base::EventCount activity_;
};

}  // namespace softdat::transport::loop
