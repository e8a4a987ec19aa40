// SPDX-License-Identifier: BSD-2-Clause
// What goes into an EP's calls and comes out of them, in no ABI's layout.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "hca/types.h"
#include "libdat/object/endpoint_attributes.h"
#include "libdat/object/endpoint_state.h"
#include "libdat/object/object.h"
#include "libdat/object/socket_address.h"

namespace softdat::object {

class EventDispatcher;
class ProtectionZone;
class SharedReceiveQueue;

// DAT_LMR_TRIPLET: the LMR context is the lkey. Laid out as the triplet of DAT 2.0.
using Segment = hca::Segment;

// DAT_RMR_TRIPLET: the RMR context is the rkey.
struct RemoteBuffer {
  std::uint64_t address = 0;
  std::uint64_t length = 0;
  std::uint32_t rkey = 0;
};

struct EndpointConfig {
  ProtectionZone* pz = nullptr;                    // null: to be set before connecting
  EventDispatcher* recv_evd = nullptr;             // null: completions of receives are not wanted
  EventDispatcher* request_evd = nullptr;          // null: completions of requests are not wanted
  EventDispatcher* connect_evd = nullptr;          // null: connection events are not wanted
  const EndpointAttributes* attributes = nullptr;  // null: the defaults
  SharedReceiveQueue* srq = nullptr;               // null: receives are posted to the EP
};

// dat_ep_modify: only what is set changes. A null pointer inside is DAT_HANDLE_NULL. Attributes are changed where they
// are, for another thread may change others at the same time; zeros mean what EndpointAttributes says, but a soft
// watermark of 0 is one.
struct EndpointChange {
  std::optional<ProtectionZone*> pz;
  std::optional<EventDispatcher*> recv_evd;
  std::optional<EventDispatcher*> request_evd;
  std::optional<EventDispatcher*> connect_evd;
  std::function<void(EndpointAttributes&)> attributes;
};

// DAT_COMM: how a common service point is spoken to, in the words of socket(2). All zero: in no such way.
struct Communicator {
  int domain = 0;
  int type = 0;
  int protocol = 0;
  friend bool operator==(const Communicator&, const Communicator&) = default;
};

struct ConnectRequest {
  hca::Address remote;  // the port is ignored
  std::uint64_t conn_qual = 0;
  std::uint32_t timeout_us = 0;
  std::span<const std::byte> private_data = {};
  std::uint32_t qos = 0;
  std::uint32_t flags = 0;  // DAT_CONNECT_FLAGS: 1 multipath wished (ignored), 2 required (refused)
  Communicator communicator = {};
};

struct EndpointStatus {
  EndpointState state;  // one of the eight of the page
  bool is_recv_idle;
  bool is_request_idle;
};

// dat_ep_recv_query, of one moment.
struct ReceiveUse {
  std::int32_t allocated;  // buffers at the EP that have not completed
  std::int32_t span;       // completions that they stand for
};

struct EndpointParameters {
  Handle ia;
  EndpointState state;
  Communicator communicator;            // of the common service point on the other side or on this
  const SocketAddress* local_address;   // never null; valid while the IA is open
  std::uint64_t local_port_qual;        // 0 without a PZ
  const SocketAddress* remote_address;  // never null; all zero before connecting; the EP's
  std::uint64_t remote_port_qual;       // 0 likewise
  Handle pz;
  Handle recv_evd;
  Handle request_evd;
  Handle connect_evd;
  Handle srq;
  EndpointAttributes attributes;  // complete
};

}  // namespace softdat::object
