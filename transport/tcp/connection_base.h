// SPDX-License-Identifier: BSD-2-Clause
// ConnectionBase: what all parts of a connection need of it: its state, its socket, its timer, its owner's sink, and
// its place in the hub. The parts know this class, and not Connection. Baton only.
//
// From the call of Hub::enlist() to end() the hub holds the connection. end() may destroy it, and so may any call of
// the owner's sink: a function that touches the connection afterwards takes a hold() before, or its caller has one, and
// looks at the state again.
#pragma once

#include "transport/reactor.h"
#include "transport/tcp/connection_state.h"
#include "transport/tcp/hub.h"
#include "transport/tcp/owner_sink.h"
#include "transport/tcp/watched_socket.h"

namespace softdat::transport::tcp {

class ConnectionBase : public HubEntry, public HalfOpen::Entry, private ReadinessSink, private base::Timer {
 public:
  [[nodiscard]] virtual SharedConnection hold() = 0;

  Hub& hub() { return hub_; }
  const TcpOptions& options() const { return hub_.options(); }
  WatchedSocket& socket() { return socket_; }
  OwnerSink& owner() { return owner_; }

  State state() const { return state_; }
  bool is_receiving() const { return is_receiving_state(state_); }
  // REQUIRES: the table has such a step. Only end() takes kEnd.
  void advance(Event event);

  // Replaces what was set before.
  void set_timer(base::Duration after) { hub_.timers().set_after(*this, after); }
  void stop_timer() { cancel_timer(); }

  // Closes the socket and gives everything back. Tells nobody. May be called again.
  void end();

 protected:
  ConnectionBase(Hub& hub, State first) : hub_(hub), state_(first), socket_(hub, *this) {}
  ~ConnectionBase() override = default;

 private:
  // end() has closed the socket: the parts give back what they have.
  virtual void on_end() = 0;

  Hub& hub_;
  State state_;
  WatchedSocket socket_;
  OwnerSink owner_;
};

}  // namespace softdat::transport::tcp
