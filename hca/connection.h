// SPDX-License-Identifier: BSD-2-Clause
// Connection management across the port: who asks, who answers, and what both are told.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "hca/result.h"
#include "hca/types.h"

namespace softdat::hca {

class QueuePair;

using Bytes = std::vector<std::byte>;

// The states of a queue pair. The queue pair is the only place where a connection's truth is kept.
enum class QueuePairState : std::uint8_t {
  kIdle,           // never connected since creation or reset; receives may be posted
  kConnecting,     // connect() under way
  kAccepting,      // accept() under way: answered, the peer's confirmation is still out
  kConnected,      // data flows
  kDisconnecting,  // graceful disconnect: posted requests drain, new ones are refused
  kError,          // disconnected, refused or broken: everything posted is flushed, until reset()
};

enum class ConnectionEventType : std::uint8_t {
  kEstablished,
  kPeerRejected,     // the peer's consumer said no; private data may say why
  kNonPeerRejected,  // nobody listens on that service id, or the listener's backlog is full
  kUnreachable,      // no route, no such host
  kTimedOut,         // no answer before the deadline
  kAcceptFailed,     // our accept() could not be completed (the peer gave up or died)
  kDisconnected,     // either side disconnected, exactly once per established connection
  kBroken,           // the connection failed: peer died, protocol or access error; once, instead of
                     // kDisconnected
};

struct ConnectionEvent {
  ConnectionEventType type;
  Bytes private_data;  // of the peer: kEstablished on the connecting side, kPeerRejected
  // Only of kEstablished on the connecting side: who said yes, wherever the request was handed off to.
  std::optional<std::uint64_t> service_id = std::nullopt;
  // kBroken: because of a request of the peer's that could not be allowed. No completion tells so here.
  bool is_peers_fault = false;
};

struct ConnectParameters {
  Address remote;                // port 0: the service id decides
  std::uint64_t service_id = 0;  // all 64 bits count
  std::span<const std::byte> private_data;
  base::Duration timeout = base::Duration::max();
};

// One peer's request, waiting for an answer. Owned by whoever received it from
// ListenerSink::on_request; destroying it unanswered refuses the peer as kNonPeerRejected. Any
// thread, but one call at a time.
class ConnectionRequest {
 public:
  virtual ~ConnectionRequest() = default;

  virtual Address remote_address() const = 0;
  virtual std::uint64_t service_id() const = 0;
  virtual std::span<const std::byte> private_data() const = 0;

  // Reads that the peer answers at a time, and that it wants to have outstanding; 0 of both where it does not say.
  virtual std::uint32_t reads_in() const = 0;
  virtual std::uint32_t reads_out() const = 0;

  // Answers yes with an idle queue pair. Its sink later gets kEstablished or kAcceptFailed (the
  // latter also when the peer has already gone). Failure (kInvalidState: qp not idle, or the request
  // answered before; kInvalidArgument: too much private data) changes nothing.
  virtual Outcome accept(QueuePair& qp, std::span<const std::byte> private_data) = 0;

  // Answers no; the peer gets kPeerRejected with the data. The request is spent afterwards, but for a failure with
  // kNoMemory, which changes nothing.
  virtual Outcome reject(std::span<const std::byte> private_data) = 0;

  // Passes the request on to this device's listener of another service id, as if the peer had asked for that one. The
  // request is spent afterwards. Failure (kBadAddress: nobody listens there; kInvalidState: answered before; kNoMemory)
  // changes nothing.
  virtual Outcome hand_off(std::uint64_t service_id) = 0;
};

// Where a listener's requests go. Called by whichever thread progresses the device, with no lock of
// the device held, one call at a time per device.
class ListenerSink {
 public:
  virtual void on_request(std::unique_ptr<ConnectionRequest> request) = 0;

 protected:
  ~ListenerSink() = default;
};

// Listens while it lives. After its destructor has returned the sink is not called again; requests
// already handed out stay answerable.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual std::uint64_t service_id() const = 0;
};

// Where a queue pair's events go; same thread rule as ListenerSink.
class QueuePairSink {
 public:
  virtual void on_connection_event(const ConnectionEvent& event) = 0;
  // More receives are outstanding than the soft limit allows; once per QueuePair::set_recv_limits().
  virtual void on_recv_limit() {}

 protected:
  ~QueuePairSink() = default;
};

}  // namespace softdat::hca
