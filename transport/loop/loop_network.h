// SPDX-License-Identifier: BSD-2-Clause
// LoopNetwork: the wire between LoopCarriers of one process, for tests and simulations.
//
// One thread at a time is within any call of a network or of its carriers, channels, ports and
// requests (they share one baton); only LoopCarrier::wait() and interrupt() may run beside it.
// Nothing moves but in LoopCarrier::turn(), and the same calls give the same outcome every time.
// The network outlives everything that uses it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "base/clock.h"
#include "transport/loop/loop_options.h"
#include "transport/offer.h"

namespace softdat::transport::loop {

class Conversation;
class LoopCarrier;

class LoopNetwork {
 public:
  explicit LoopNetwork(const LoopOptions& options = {});
  ~LoopNetwork();
  LoopNetwork(const LoopNetwork&) = delete;
  LoopNetwork& operator=(const LoopNetwork&) = delete;

  // Every connection under way or established, by number in the order of connect().
  std::vector<std::uint64_t> connections() const;

  // Breaks one connection, as when a network fails: both sides hear kLost (or are refused as
  // kUnreachable while connecting) at their next turn, and what was on its way is gone.
  void cut(std::uint64_t connection);
  void cut(const LoopCarrier& one, const LoopCarrier& other);

  // When the next item that waits only for its delay may be delivered; nothing when none waits.
  std::optional<base::Time> next_due() const;

  // May be changed between calls; holds for what is sent from then on.
  LoopOptions& options() { return options_; }

 private:
  friend class Conversation;
  friend class End;
  friend class LoopCarrier;

  std::uint64_t enlist(const std::shared_ptr<Conversation>& conversation);
  void forget(std::uint64_t connection) { conversations_.erase(connection); }
  LoopCarrier* find(std::uint32_t ipv4) const;
  void advance(base::Time now) { now_ = now > now_ ? now : now_; }
  base::Time pick_due();
  std::size_t pick_chunk();
  bool is_seeded() const { return options_.seed != 0; }
  std::mt19937_64& random() { return random_; }

  LoopOptions options_;
  std::mt19937_64 random_;
  base::Time now_{};
  std::uint64_t last_connection_ = 0;
  std::map<std::uint64_t, std::weak_ptr<Conversation>> conversations_;
  std::map<std::uint32_t, LoopCarrier*> carriers_;
};

}  // namespace softdat::transport::loop
