// SPDX-License-Identifier: BSD-2-Clause
// How two sides agree on a connection by their MPA frames. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "transport/offer.h"
#include "transport/tcp/mpa_frame.h"
#include "transport/tcp/private_block.h"
#include "transport/tcp/tcp_options.h"

namespace softdat::transport::tcp {

// What was agreed for a connection.
struct Agreement {
  bool is_own = false;  // the peer is SoftDAT
  bool has_crc = false;
  std::uint8_t rtr = 0;  // the one ReadyToReceive flag agreed on; 0: no peer-to-peer mode
  Features features = 0;

  // The header of a send may carry an ack.
  bool acks_ride() const { return is_own && (features & kRidingAcks) != 0; }
};

// Between whom a connection is, and what they agreed. Grows with the handshake, and is fixed afterwards.
struct Terms {
  bool is_initiator = true;
  Address remote{};  // the initiator's: with the port being dialed
  Offer own{};       // the responder's: its answer
  Offer peer{};
  Agreement agreement{};

  // The service's own port, not one of the sequence that its id shares with others.
  bool is_port_of_service() const { return remote.port == own.service_id; }
};

MpaFrame make_request(const TcpOptions& options, const Offer& offer);

// What a reply means to the initiator.
struct ReplyReading {
  enum class Meaning {
    kYes,
    kRefused,       // see refusal and peer.private_data
    kWrongService,  // try the next port
    kNoRtr,         // yes, but without a way to begin in peer-to-peer mode: terminate
  };
  Meaning meaning = Meaning::kRefused;
  Refusal refusal = Refusal::kProtocol;
  Offer peer{};
  Agreement agreement{};
};
// `is_direct`: the port asked is the service id itself, so a foreign peer may be there.
ReplyReading read_reply(const MpaFrame& reply, const MpaFrame& request, const Offer& offer, bool is_direct);

// What a request to the listener of `service_id` means to the responder.
struct RequestReading {
  bool is_own = false;
  Verdict verdict = Verdict::kNone;  // the answer to give at once; kNone: the consumer decides
  Offer peer{};
};
RequestReading read_request(const MpaFrame& request, std::uint64_t service_id, std::uint16_t port);

Agreement agree(const TcpOptions& options, const MpaFrame& request, bool is_own, Features features);
// `offer` is the consumer's answer. A refusal uses its private data only.
MpaFrame make_reply(const Agreement& agreement, const MpaFrame& request, const Offer& offer);
MpaFrame make_refusal(const MpaFrame& request, Verdict verdict, const Offer& offer);

}  // namespace softdat::transport::tcp
