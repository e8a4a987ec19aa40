// SPDX-License-Identifier: BSD-2-Clause
// A carrier makes channels to peers: over TCP (the iWARP wire), over shared memory, or within the process. One per
// simulated NIC. REQUIRES of every call, unless its comment says otherwise: the NIC's baton.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/clock.h"
#include "transport/channel.h"
#include "transport/offer.h"
#include "transport/reactor.h"
#include "transport/watch_words.h"

namespace softdat::transport {

class Tapper;

// A peer's request to connect, waiting for an answer. Destroying it unanswered refuses the peer with kBusy.
class InboundRequest {
 public:
  virtual ~InboundRequest() = default;
  virtual const Offer& offer() const = 0;

  // False once the peer has given up or died.
  virtual bool is_alive() const = 0;

  // Accepts. The sink gets on_established() when the peer confirms, or on_closed(kLost) if it does not. Null, without
  // any effect, if the peer has already gone.
  virtual std::unique_ptr<Channel> accept(const Offer& reply, ChannelSink& sink) = 0;

  // Rejects; the peer's sink gets on_refused(kByConsumer).
  virtual void reject(std::span<const std::byte> private_data) = 0;
};

class PortSink {
 public:
  virtual void on_request(std::unique_ptr<InboundRequest> request) = 0;

 protected:
  ~PortSink() = default;
};

// Listens while it lives.
class Port {
 public:
  virtual ~Port() = default;
};

enum class ListenError { kAddressInUse, kNoResources, kNotPermitted };

struct ListenResult {
  std::unique_ptr<Port> port;  // null: see error
  ListenError error = ListenError::kNoResources;
};

// What a look has found.
struct Look {
  std::uint32_t done = 0;    // how many things it did
  bool takes_turn = false;   // none were done, and only a turn() will do
  bool asks_kernel = false;  // it makes system calls, which one of several queues that are polled can make for all
  friend bool operator==(const Look&, const Look&) = default;
};

class Carrier {
 public:
  virtual ~Carrier() = default;  // REQUIRES: all its channels, ports and requests are destroyed

  // Listens for requests for `service_id` at the carrier's own address. At most max(backlog, 1) of them wait for an
  // answer; further ones are refused with kBusy.
  virtual ListenResult listen(std::uint64_t service_id, std::uint32_t backlog, PortSink& sink) = 0;

  // Starts to connect. The sink gets on_established() or on_refused(), never within this call. There is no time limit:
  // to give up, destroy the channel.
  virtual std::unique_ptr<Channel> connect(const Address& remote, const Offer& request, ChannelSink& sink) = 0;

  // Moves what can, calling sinks; never blocks, is no cancellation point. Returns how many things it did (0: idle).
  virtual std::size_t turn(base::Time now) = 0;

  // A short turn() for a thread that polls: looks only where messages are likely to come, and not at the clock. It must
  // not replace every turn.
  static constexpr Look kTakesTurn{.takes_turn = true, .asks_kernel = true};
  virtual Look look() { return kTakesTurn; }

  // Fixed. Where a thread that polls may look without the baton; null: nowhere. Lives as long as the carrier.
  virtual const WatchWords* watch_words() const { return nullptr; }

  // Whether the carrier has failed because the consumer closed its descriptors. Becomes true only in a turn() that did
  // something. In that turn or the following ones every channel is closed with kLost or refused with kUnreachable; no
  // new channel is made. All calls stay allowed.
  virtual bool has_failed() const { return false; }

  // Does what may take some ms before the first wait(). Called once, by the thread that will wait. REQUIRES: not the
  // baton.
  virtual void warm_up() {}

  // Blocks until a turn() would find work, interrupt() is called, or the deadline passes. REQUIRES: not the baton; one
  // thread at a time.
  virtual void wait(base::Time deadline) = 0;

  // The same for a thread of the program's: a cancellation point, and a signal handler that runs on the thread ends it
  // (kInterrupted). Lasts 2 s at most. REQUIRES: can_wait_cancellably(), and that no thread is in wait().
  virtual base::WakeReason wait_cancellably(base::Time) { return base::WakeReason::kNotified; }
  // Any thread. May become false.
  virtual bool can_wait_cancellably() const { return false; }

  // Has wait() and turn() serve a descriptor of the owner's too, as Reactor::watch(). The watch must be destroyed
  // before the carrier. Null: the carrier waits for no descriptors, or the kernel cannot watch another one.
  virtual std::unique_ptr<Reactor::Watch> watch(int, ReadinessSink&) { return nullptr; }

  // Has all connections watched (tap.h), those that are there already too; null: no longer. Does nothing where the
  // carrier cannot. The tapper stays until it is replaced.
  virtual void tap(Tapper*) {}

  // Ends a wait() under way, or the next one. Any thread, with or without the baton.
  virtual void interrupt() = 0;
};

}  // namespace softdat::transport
