// SPDX-License-Identifier: BSD-2-Clause
// LoopNetwork: the wire between LoopCarriers of one process, for tests, simulations and programs that are all of what
// they talk to.
//
// Each carrier has its baton, as carrier.h asks; between carriers the network locks, so that they may be used by
// different threads. A sink is called with that lock held, and may do with its own carrier what it likes.
// Nothing moves but in LoopCarrier::turn(), and the same calls give the same outcome every time.
// The network outlives everything that uses it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
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

  // Nobody else moves anything while it lives. A thread may hold several.
  using Section = std::unique_lock<std::recursive_mutex>;
  Section enter() const { return Section(mutex_); }
  // In a child of fork(), which cannot unlock what a thread of its parent has locked. What it has is a copy of no
  // certain moment: nothing may move in it.
  void after_fork_in_child() { new (&mutex_) std::recursive_mutex; }

  // May be changed between calls; holds for what is sent from then on.
  LoopOptions& options() { return options_; }

 private:
  friend class Conversation;
  friend class End;
  friend class LoopCarrier;

  std::uint64_t enlist(const std::shared_ptr<Conversation>& conversation);
  void forget(std::uint64_t connection) { conversations_.erase(connection); }
  // Who serves it there, or else whoever is there; null: nobody.
  LoopCarrier* find(const Address& address, std::uint64_t service_id) const;
  void advance(base::Time now) { now_ = now > now_ ? now : now_; }
  base::Time pick_due();
  std::size_t pick_chunk();
  bool is_seeded() const { return options_.seed != 0; }
  std::mt19937_64& random() { return random_; }

  mutable std::recursive_mutex mutex_;
  // Guarded by mutex_.
  LoopOptions options_;
  std::mt19937_64 random_;
  base::Time now_{};
  std::uint64_t last_connection_ = 0;
  std::map<std::uint64_t, std::weak_ptr<Conversation>> conversations_;
  std::multimap<Address, LoopCarrier*> carriers_;  // by address, port 0
};

}  // namespace softdat::transport::loop
