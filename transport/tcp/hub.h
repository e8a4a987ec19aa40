// SPDX-License-Identifier: BSD-2-Clause
// Hub: what the connections and ports of one carrier share, and where they say what they need of
// its turns. Baton only, but for wait_until() and the reactor's own wait().
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/guarded.h"
#include "base/timers.h"
#include "transport/lock_places.h"
#include "transport/reactor.h"
#include "transport/tcp/active_connections.h"
#include "transport/tcp/buffer_pool.h"
#include "transport/tcp/connections.h"
#include "transport/tcp/spare_descriptor.h"
#include "transport/tcp/tcp_options.h"

namespace softdat::transport::tcp {

// Whether the service has become reachable in another way since TCP was chosen.
using ServedElsewhere = std::function<bool(const Address& remote, const Offer& request)>;

class Hub {
 public:
  // The reactor outlives the hub.
  Hub(Reactor& reactor, const TcpOptions& options);

  const TcpOptions& options() const { return options_; }
  Reactor& reactor() { return reactor_; }
  BufferPool& pool() { return pool_; }
  base::Timers& timers() { return timers_; }
  Connections& connections() { return connections_; }
  SpareDescriptor& spare() { return spare_; }

  void ask_before_requests(ServedElsewhere ask) { is_served_elsewhere_ = std::move(ask); }
  bool is_served_elsewhere(const Address& remote, const Offer& request) const {
    return is_served_elsewhere_ && is_served_elsewhere_(remote, request);
  }

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

  // Adds it to the connections, which hold it while it has a socket, even if its owner has let go of it. Throws
  // std::bad_alloc.
  void enlist(const SharedConnection& connection);
  // Does nothing for one that is not enlisted. May destroy the connection.
  void forget(HubEntry& entry);

  // The parts of a turn. Between move() and settle() the reactor dispatches, looking at the kernel
  // if anybody wants it to. Each returns how many things were done; settle() counts the dispatch.
  std::size_t move(base::Time now);
  bool wants_look();
  // Whether a connection has moved bytes lately.
  bool has_active() const { return !active_.empty(); }
  bool has_connections() const { return connections_.size() > 0; }
  // Nothing is due but perhaps a timer, as of the last settle() and what was noted since.
  bool is_still() const { return is_still_; }
  std::size_t settle(base::Time now);
  // A poll that only reads the active connections, in place of a turn. Returns how many things were done. REQUIRES:
  // may_look(), which says that nothing else is due, but perhaps a timer.
  std::size_t look();
  bool may_look() const;
  // When a wait must end at the latest; the epoch when there is work. Any thread.
  base::Time wait_until();

 private:
  struct Rest {
    bool has_work = true;
    base::Time next = base::kNever;
  };

  void begin();
  bool is_kernel_due() const;
  void run_due();
  void arm_all();
  void conclude();
  void publish();

  // Fixed after construction.
  const TcpOptions options_;
  Reactor& reactor_;
  ServedElsewhere is_served_elsewhere_;

  // Owned by the baton.
  BufferPool pool_;
  base::Timers timers_;
  Connections connections_{timers_, options_};
  std::vector<SharedConnection> due_;
  std::vector<SharedConnection> running_;  // kept for its memory
  std::vector<SharedConnection> unarmed_;
  ActiveConnections active_;
  SpareDescriptor spare_;
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
