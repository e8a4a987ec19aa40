// SPDX-License-Identifier: BSD-2-Clause
// Connection management: requests, answers, and the events of both sides.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "hca/failure.h"
#include "hca/result.h"
#include "hca/types.h"

namespace softdat::hca {

class QueuePair;

using Bytes = std::vector<std::byte>;

// The states of a queue pair. No other object stores the state of a connection. docs/STATES.md has the transitions.
enum class QueuePairState : std::uint8_t {
  kIdle,           // never connected since creation or reset; receives may be posted
  kConnecting,     // connect() under way
  kAccepting,      // accept() under way: answered, the peer's confirmation is still out
  kConnected,      // data flows
  kDisconnecting,  // graceful disconnect: posted requests drain, new ones are refused
  kError,          // disconnected, refused or broken: everything posted is flushed, until reset()
};

// What QueuePair::disconnect() does.
enum class DisconnectStep : std::uint8_t {
  kRefuse,   // answers kInvalidState
  kNothing,  // the connection ends already, or has ended
  kDrain,    // begins a graceful end
  kCut,      // ends the connection at once
};
constexpr DisconnectStep disconnect_step(QueuePairState state, bool is_graceful) {
  switch (state) {
    case QueuePairState::kIdle:
      return DisconnectStep::kRefuse;
    case QueuePairState::kError:
      return DisconnectStep::kNothing;
    case QueuePairState::kDisconnecting:
      return is_graceful ? DisconnectStep::kNothing : DisconnectStep::kCut;
    case QueuePairState::kConnected:
      return is_graceful ? DisconnectStep::kDrain : DisconnectStep::kCut;
    case QueuePairState::kConnecting:
    case QueuePairState::kAccepting:
      break;
  }
  return DisconnectStep::kCut;
}

enum class ConnectionEventType : std::uint8_t {
  kEstablished,
  kPeerRejected,     // the peer's consumer rejected; private data may say why
  kNonPeerRejected,  // no listener has that service id, or its backlog is full
  kUnreachable,      // no route, no such host
  kTimedOut,         // no answer before the deadline
  kAcceptFailed,     // accept() could not be completed (the peer gave up or died)
  kDisconnected,     // either side disconnected, exactly once per established connection
  kBroken,           // the connection failed: peer died, protocol or access error; once, instead of
                     // kDisconnected
};

struct ConnectionEvent {
  ConnectionEventType type;
  Bytes private_data;  // of the peer: kEstablished on the connecting side, kPeerRejected
  // kEstablished on the connecting side: the service id of the listener that accepted, which differs from the one asked
  // for after a hand-off. Empty otherwise.
  std::optional<std::uint64_t> service_id = std::nullopt;
  // kBroken: a request of the peer's was refused, such as one with a wrong key. No completion on this side says so.
  bool is_peers_fault = false;
  // kEstablished: what carries the connection, for people: "shm", "tcp", "loop" or "verbs".
  const char* carrier = nullptr;
};

struct ConnectParameters {
  Address remote;                                  // port 0: the service id decides
  std::uint64_t service_id = 0;                    // all 64 bits count
  std::span<const std::byte> private_data;         // copied by the call
  base::Duration timeout = base::Duration::max();  // from the call on; then kTimedOut
};

// The rule that such an event tells of; kUnknown where it tells of several.
constexpr Rule rule_of(ConnectionEventType news) {
  switch (news) {
    case ConnectionEventType::kPeerRejected:
      return Rule::kRejected;
    case ConnectionEventType::kNonPeerRejected:
      return Rule::kNobodyListens;
    case ConnectionEventType::kUnreachable:
      return Rule::kUnreachable;
    case ConnectionEventType::kTimedOut:
      return Rule::kTimedOut;
    case ConnectionEventType::kAcceptFailed:
      return Rule::kAcceptFailed;
    default:
      return Rule::kUnknown;
  }
}

// A peer's request, waiting for an answer. Owned by the receiver of ListenerSink::on_request(). Destroying it
// unanswered refuses the peer as kNonPeerRejected. Any thread, one call at a time. No call blocks.
class ConnectionRequest {
 public:
  virtual ~ConnectionRequest() = default;

  virtual Address remote_address() const = 0;
  virtual std::uint64_t service_id() const = 0;
  virtual std::span<const std::byte> private_data() const = 0;

  // How many reads the peer answers at a time, and how many it wants to have outstanding; both 0 if it does not say.
  virtual std::uint32_t ird() const = 0;
  virtual std::uint32_t ord() const = 0;

  // Accepts with an idle queue pair, whose sink later gets kEstablished, or kAcceptFailed if the peer has gone. Failure
  // changes nothing: kInvalidState (the queue pair is not idle, or the request was answered before), kInvalidArgument
  // (too much private data).
  virtual Outcome accept(QueuePair& qp, std::span<const std::byte> private_data) = 0;

  // Rejects; the peer gets kPeerRejected with the data. The request is used up, unless the call fails with kNoMemory,
  // which changes nothing.
  virtual Outcome reject(std::span<const std::byte> private_data) = 0;

  // Passes the request on to this device's listener of another service id, as if the peer had asked for that one. The
  // request is used up. Failure changes nothing: kBadAddress (no listener there), kInvalidState (answered before),
  // kNoMemory.
  virtual Outcome hand_off(std::uint64_t service_id) = 0;
};

// Receives a listener's requests. Owned by the caller of Device::listen(). Called by the thread that makes the device's
// progress (a consumer thread in progress() or sleep(), or a thread of the device), with no lock of the device held,
// one call of all sinks of a device at a time.
class ListenerSink {
 public:
  virtual void on_request(std::unique_ptr<ConnectionRequest> request) = 0;

 protected:
  ~ListenerSink() = default;
};

// Listens while it lives. Its destructor waits for a sink call under way, unless it runs within that call; afterwards
// the sink is not called again. Requests already handed out can still be answered.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual std::uint64_t service_id() const = 0;
};

// Receives a queue pair's events. Called as ListenerSink is, except for on_failure(). Owned by the caller of
// Device::create_qp().
class QueuePairSink {
 public:
  virtual void on_connection_event(const ConnectionEvent& event) = 0;
  // A request has failed, or a connection has failed or will. Called on any thread, with locks of the device held,
  // before the completions and events that report the failure. Must not call the device, and must not wait. Returns the
  // text that the peer gets, if the request was the peer's.
  virtual std::string on_failure(const Failure&) { return {}; }
  // More receives are outstanding than the soft limit allows. Called once per QueuePair::set_recv_limits().
  virtual void on_recv_limit() {}

 protected:
  ~QueuePairSink() = default;
};

}  // namespace softdat::hca
