// SPDX-License-Identifier: BSD-2-Clause
// A carrier makes channels: over TCP (the iWARP wire), over shared memory, or within the process.
// Calls happen with the NIC's baton held unless a comment says otherwise.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/clock.h"
#include "transport/channel.h"
#include "transport/offer.h"

namespace softdat::transport {

// A peer's request to connect, waiting for an answer. Destroying it unanswered refuses the peer as
// kNoListener.
class InboundRequest {
 public:
  virtual ~InboundRequest() = default;
  virtual const Offer& offer() const = 0;

  // False once the peer has gone away (it gave up or died).
  virtual bool is_alive() const = 0;

  // Says yes. The sink gets on_established() when the peer has confirmed, or on_closed(kLost) when
  // it does not. Null when the peer has already gone; then nothing has happened.
  virtual std::unique_ptr<Channel> accept(const Offer& reply, ChannelSink& sink) = 0;

  // Says no; the peer's sink gets on_refused(kByConsumer).
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

class Carrier {
 public:
  virtual ~Carrier() = default;  // after all its channels, ports and requests

  // Waits for peers that ask for service_id at the carrier's own address. At most max(backlog, 1)
  // of their requests stand unanswered; further ones are refused as kNoListener.
  virtual ListenResult listen(std::uint64_t service_id, std::uint32_t backlog, PortSink& sink) = 0;

  // Starts to connect; the sink hears on_established() or on_refused(), never from within this
  // call. No deadline of its own: the owner destroys the channel when he has waited long enough.
  virtual std::unique_ptr<Channel> connect(const Address& remote, const Offer& request, ChannelSink& sink) = 0;

  // Moves what can be moved, calling sinks; never blocks. Returns how many things it did (0: idle).
  virtual std::size_t turn(base::Time now) = 0;

  // Whether a turn() would find nothing to do, as far as can be seen without asking the kernel or the clock: who polls
  // may then leave out most of his turns. `false` is always right.
  virtual bool is_quiet() const { return false; }

  // Whether the carrier cannot go on: what it stands on has been taken away. Becomes true only in a turn() that did
  // something; by then, or in the turns that follow, every channel has heard kLost or been refused as kUnreachable, and
  // nothing new comes about. All calls stay allowed.
  virtual bool has_failed() const { return false; }

  // Without the baton, one thread at a time: blocks until a turn() would find work, interrupt(), or
  // the deadline.
  virtual void wait(base::Time deadline) = 0;

  // Any thread, with or without the baton: ends a wait() under way, or the next one.
  virtual void interrupt() = 0;
};

}  // namespace softdat::transport
