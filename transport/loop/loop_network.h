// SPDX-License-Identifier: BSD-2-Clause
// LoopNetwork: the wire between LoopCarriers of one process, for tests, simulations and programs that talk to
// themselves.
//
// Threads. Each carrier has its NIC's baton. The network's lock makes carriers of different threads safe; sinks are
// called with it held, and may use their own carrier. Items move in LoopCarrier::turn() only, so the same calls have
// the same outcome every time. The network must outlive all that uses it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <vector>

#include "base/clock.h"
#include "transport/lock_places.h"
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

  // The numbers of all connections that are being made or established, in the order of connect().
  std::vector<std::uint64_t> connections() const;

  // Breaks a connection as a network failure does: in their next turns both sides get kLost, or are refused with
  // kUnreachable while connecting. Items on their way are lost.
  void cut(std::uint64_t connection);
  void cut(const LoopCarrier& one, const LoopCarrier& other);

  // When the next item that waits for its delay alone is due; empty if none waits.
  std::optional<base::Time> next_due() const;

  // Holds the network's lock. A thread may hold several.
  using Lock = base::Ordered<std::recursive_mutex, locks::kLoopNetwork>;
  using Section = std::unique_lock<Lock>;
  Section enter() const { return Section(mutex_); }
  // Makes the lock usable in a child of fork(), where a thread of the parent may have held it. The child's copy of the
  // network may be inconsistent: it may only be destroyed.
  void after_fork_in_child() { new (&mutex_) Lock; }

  // May be changed between calls; applies to items sent afterwards.
  LoopOptions& options() { return options_; }

 private:
  friend class Conversation;
  friend class End;
  friend class LoopCarrier;

  std::uint64_t enlist(const std::shared_ptr<Conversation>& conversation);
  void forget(std::uint64_t connection) { conversations_.erase(connection); }
  // The carrier at the address that listens for the service, or else any carrier there; null: none.
  LoopCarrier* find(const Address& address, std::uint64_t service_id) const;
  void advance(base::Time now) { now_ = now > now_ ? now : now_; }
  base::Time pick_due();
  std::size_t pick_chunk();
  bool is_seeded() const { return options_.seed != 0; }
  std::mt19937_64& random() { return random_; }

  mutable Lock mutex_;
  // Guarded by mutex_.
  LoopOptions options_;
  std::mt19937_64 random_;
  base::Time now_{};
  std::uint64_t last_connection_ = 0;
  std::map<std::uint64_t, std::weak_ptr<Conversation>> conversations_;
  std::multimap<Address, LoopCarrier*> carriers_;  // by address, port 0
};

}  // namespace softdat::transport::loop
