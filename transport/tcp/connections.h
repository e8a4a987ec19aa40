// SPDX-License-Identifier: BSD-2-Clause
// Connections: all connections of one carrier. Holds each while it has a socket, closes those that never say what they
// want, and looks for peers that have died. Baton only.
#pragma once

#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/timers.h"
#include "transport/tcp/half_open.h"
#include "transport/tcp/tcp_options.h"

namespace softdat::transport {
class Tapper;
}

namespace softdat::transport::tcp {

class Connection;
using SharedConnection = std::shared_ptr<Connection>;

// What Connections and the hub keep in each connection.
class HubEntry : public boost::intrusive::list_base_hook<> {
 public:
  // Connection::on_due() comes at the next turn.
  bool is_deferred() const { return is_deferred_; }

 private:
  friend class Connections;
  friend class Hub;
  SharedConnection held_;  // itself, while it is in the list
  bool is_deferred_ = false;
  bool is_listed_unarmed_ = false;
  std::uint32_t heard_ = 0;    // segments that had come from the peer at the last look
  unsigned silent_looks_ = 0;  // looks in a row at which the peer owed an answer and had sent nothing
};

class Connections final : private base::Timer {
 public:
  // `timers` and `options` outlive it.
  Connections(base::Timers& timers, const TcpOptions& options);
  ~Connections();  // REQUIRES: none is left

  // Never allocates.
  void add(const SharedConnection& connection);
  // Returns what was held; null if it was not in the list.
  SharedConnection remove(HubEntry& entry);
  std::size_t size() const { return all_.size(); }
  // Null when there is none. Never allocates.
  SharedConnection any() const { return all_.empty() ? nullptr : all_.front().held_; }
  // Calls visit(connection) for each. It neither begins nor ends connections.
  template <typename Visit>
  void for_each(Visit visit) {
    for (HubEntry& entry : all_) visit(*entry.held_);
  }

  // Counts a connection whose peer has not sent its whole request yet or has been refused, and closes an older one when
  // its source, or all sources together, have too many. Throws std::bad_alloc.
  void add_half_open(HalfOpen::Entry& connection, const Address& source);
  void remove_half_open(HalfOpen::Entry& connection) { half_open_.remove(connection); }

  // Watches the connections; null: nobody does.
  void set_tapper(Tapper* tapper) { tapper_ = tapper; }
  Tapper* tapper() const { return tapper_; }

 private:
  // Looks for dead peers.
  void on_timer() override;
  void look_at(HubEntry& entry);
  void schedule_look();

  using All = boost::intrusive::list<HubEntry, boost::intrusive::constant_time_size<true>>;

  base::Timers& timers_;
  const TcpOptions& options_;
  All all_;  // the one looked at longest ago first
  HalfOpen half_open_;
  Tapper* tapper_ = nullptr;
};

}  // namespace softdat::transport::tcp
