// SPDX-License-Identifier: BSD-2-Clause
// What the two sides of a connection tell each other in request and reply.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/ip_address.h"

namespace softdat::transport {

// What two SoftDAT peers can use beyond plain iWARP. A foreign peer has no features.
enum Feature : std::uint32_t {
  kNotes = 1u << 0,       // acks, resends, orderly bye
  kImmediates = 1u << 1,  // RFC 7306 immediate data
  kAtomics = 1u << 2,     // RFC 7306 atomics
  kDatagrams = 1u << 3,   // the channel carries datagrams and nothing else
  kVoids = 1u << 4,       // the last FPDU of a message may say that the message is void (docs/WIRE.md)
  // In a request: the initiator looked for the service in shared memory of this host and did not find it. In an answer:
  // the responder serves it there. The two are neighbours that cannot share memory.
  kNeighbours = 1u << 5,
  kWords = 1u << 6,       // the notes that explain failures
  kRidingAcks = 1u << 7,  // over TCP: the header of a send may carry an ack (docs/WIRE.md)
};
using Features = std::uint32_t;

using Address = base::IpAddress;

// The most private data of a consumer: what MPA leaves beside SoftDAT's own block (docs/WIRE.md).
inline constexpr std::size_t kMaxPrivateData = 128;

struct Offer {
  Address address{};             // of the side that makes the offer, as it wants to be known
  std::uint64_t service_id = 0;  // asked for (request) or answered (reply)
  Features features = 0;         // offered (request) or agreed (reply); 0 from a foreign peer
  std::uint32_t ird = 0;         // IRD: reads this side answers at a time
  std::uint32_t ord = 0;         // ORD: reads this side wants to have outstanding
  // The QP entry through which the peer may reach this side's memory, over shared memory only; connection 0: none.
  std::uint32_t direct_qp_entry = 0;
  std::uint64_t direct_connection = 0;
  std::uint64_t direct_receives = 0;  // the number of the receive that this connection's first send takes
  std::vector<std::byte> private_data{};
};

enum class Refusal {
  kByConsumer,   // the listener's consumer rejected; private data may say why
  kNoListener,   // no listener has that service id, or none had it when the connect began
  kUnreachable,  // no route, no such host, or the peer vanished while connecting (over shared memory: several times)
  kProtocol,     // the answer breaks the protocol
  kBusy,         // a listener has it, and takes no request now: its backlog is full, or its consumer had no room
};

}  // namespace softdat::transport
