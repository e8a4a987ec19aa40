// SPDX-License-Identifier: BSD-2-Clause
// The one place that knows which carriers there are.
#pragma once

#include <cstdint>
#include <memory>

#include "transport/carrier.h"
#include "transport/peer_resources.h"

namespace softdat::transport {

enum class CarrierKind {
  kAuto,  // shared memory where it reaches, TCP everywhere else
  kShm,
  kTcp,
  kLoop,  // within this process
};

// How an initiator begins on the TCP wire; a responder follows whoever comes.
enum class MpaStyle {
  kPeerToPeer,  // MPA revision 2, and the first FPDU is an empty Write
  kEnhanced,    // revision 2 with IRD and ORD
  kPlain,       // revision 1
};

struct CarrierOptions {
  CarrierKind kind = CarrierKind::kAuto;
  Address address{.ipv4 = 0x7f000001};  // this carrier's own
  bool crc = false;                     // asks for CRC32C on TCP
  MpaStyle mpa = MpaStyle::kPeerToPeer;
  base::Duration tcp_timeout = std::chrono::seconds(60);  // a peer whose host is silent for so long is lost
  std::shared_ptr<ResourceExchange> resources = nullptr;  // what peers over shared memory are shown; null: nothing
};

// Throws std::system_error when the system has not what the carrier needs.
std::unique_ptr<Carrier> open_carrier(const CarrierOptions& options);

}  // namespace softdat::transport
