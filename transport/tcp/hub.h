// SPDX-License-Identifier: BSD-2-Clause
// Hub: what the connections and ports of one carrier share, and where they say what they need of
// its turns. Baton only, but for wait_until() and the reactor's own wait().
#pragma once

#include <array>
#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/guarded.h"
#include "base/timers.h"
#include "base/unique_fd.h"
#include "transport/lock_places.h"
#include "transport/reactor.h"
#include "transport/tcp/buffer_pool.h"
#include "transport/tcp/half_open.h"
#include "transport/tcp/tcp_options.h"

namespace softdat::transport {
class Tapper;
}

namespace softdat::transport::tcp {

class Connection;
using SharedConnection = std::shared_ptr<Connection>;

// What the hub keeps in each connection that it holds.
class HubEntry : public boost::intrusive::list_base_hook<> {
 public:
  // Connection::on_due() comes at the next turn.
  bool is_deferred() const { return is_deferred_; }

 private:
  friend class Hub;
  SharedConnection held_;  // itself, while enlisted
  bool is_deferred_ = false;
  bool is_listed_unarmed_ = false;
  std::uint32_t heard_ = 0;    // segments that had come from the peer at the last look
  unsigned silent_looks_ = 0;  // looks in a row at which the peer owed an answer and had sent nothing
};

class Hub final : private base::Timer {
 public:
  // The reactor outlives the hub.
  Hub(Reactor& reactor, const TcpOptions& options);
  ~Hub();

  const TcpOptions& options() const { return options_; }
  Reactor& reactor() { return reactor_; }
  BufferPool& pool() { return pool_; }
  base::Timers& timers() { return timers_; }

  // Something was done; counts towards what turn() returns.
  void note_done(std::size_t count = 1) { done_ += count; }
  // These three REQUIRE an enlisted connection, and never allocate.
  // Connection::on_due() at the next turn.
  void defer(HubEntry& entry);
  // The reactor is not watching it for reading any more; the end of the turn asks it to.
  void note_unarmed(HubEntry& entry);
  // It moves bytes: worth looking at without the reactor.
  void note_active(const HubEntry& entry);
  // A writer waits, so that the reactor is looked at in every turn. Balanced by the same with -1.
  void note_blocked_writer(int change) {
    SOFTDAT_DEBUG_CHECK(blocked_writers_ + change >= 0, "a writer that goes on was blocked");
    blocked_writers_ += change;
  }
  // The next wait() returns at once.
  void note_work();

  // Holds a connection while it has a socket, even if its owner has let go of it. Throws std::bad_alloc.
  void enlist(const SharedConnection& connection);
  // Does nothing for one that is not enlisted. May destroy the connection.
  void forget(HubEntry& entry);
  // Counts a connection whose peer has not sent its whole request yet, and closes an older one when its source, or all
  // sources together, have too many. Throws std::bad_alloc.
  void enlist_half_open(HalfOpen::Entry& connection, const Address& source);
  void forget_half_open(HalfOpen::Entry& connection) { half_open_.remove(connection); }
  // Null when there is none. Never allocates.
  SharedConnection any_connection() const { return connections_.empty() ? nullptr : connections_.front().held_; }

  // Calls visit(connection) for each. Neither begins nor ends connections meanwhile.
  template <typename Visit>
  void for_each_connection(Visit visit) {
    for (HubEntry& entry : connections_) visit(*entry.held_);
  }
  // Watches connections; null: none does.
  void set_tapper(Tapper* tapper) { tapper_ = tapper; }
  Tapper* tapper() const { return tapper_; }

  // accept() found no free descriptor: closes one that was kept for this, so that the peer can be
  // turned away, then keeps another.
  enum class TurnedAway { kOne, kNobodyThere, kNoSpare };
  TurnedAway turn_away(int listener);

  // The parts of a turn. Between move() and settle() the reactor dispatches, looking at the kernel
  // if anybody wants it to. Each returns how many things were done; settle() counts the dispatch.
  std::size_t move(base::Time now);
  bool wants_look();
  // Whether a connection has moved bytes lately.
  bool has_active() const;
  // Nothing is due but perhaps a timer, as of the last settle() and what was noted since.
  bool is_still() const { return is_still_; }
  std::size_t settle(base::Time now);
  // When a wait must end at the latest; the epoch when there is work. Any thread.
  base::Time wait_until();

 private:
  struct Active {
    SharedConnection connection;
    int misses = 0;
    bool is_empty = false;  // the last turn emptied its socket
  };
  struct Rest {
    bool has_work = true;
    base::Time next = base::kNever;
  };

  // Looks for dead peers.
  void on_timer() override;
  void look_at(HubEntry& entry);
  void schedule_look();

  void run_due();
  void try_active();
  void arm_all();
  void publish();

  using Entries = boost::intrusive::list<HubEntry, boost::intrusive::constant_time_size<true>>;

  // Fixed after construction.
  const TcpOptions options_;
  Reactor& reactor_;

  // Owned by the baton.
  BufferPool pool_;
  base::Timers timers_;
  Entries connections_;  // the one looked at longest ago first
  HalfOpen half_open_;
  std::vector<SharedConnection> due_;
  std::vector<SharedConnection> running_;  // kept for its memory
  std::vector<SharedConnection> unarmed_;
  std::array<Active, 4> active_;
  base::UniqueFd spare_;
  Tapper* tapper_ = nullptr;
  std::size_t done_ = 0;
  int blocked_writers_ = 0;
  unsigned idle_turns_ = 0;
  unsigned turns_since_look_ = 0;
  unsigned eager_looks_ = 0;
  bool is_work_noted_ = true;
  bool is_still_ = false;
  Rest published_;

  base::Guarded<Rest, locks::kHubRest> rest_;
};

}  // namespace softdat::transport::tcp
