// SPDX-License-Identifier: BSD-2-Clause
// Makes a carrier of the kind asked for. The rest of the room's users know Carrier only.
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

// How an initiator begins on the TCP wire. A responder follows the initiator.
enum class MpaStyle {
  kPeerToPeer,  // MPA revision 2, and the first FPDU is an empty Write
  kEnhanced,    // revision 2 with IRD and ORD
  kPlain,       // revision 1
};

struct CarrierOptions {
  CarrierKind kind = CarrierKind::kAuto;
  Address address{.ipv4 = 0x7f000001};  // this carrier's own
  bool crc = false;                     // asks for CRC32C on the TCP wire
  MpaStyle mpa = MpaStyle::kPeerToPeer;
  base::Duration tcp_timeout = std::chrono::seconds(60);  // a peer whose host is silent for so long is lost
  std::shared_ptr<ResourceExchange> resources = nullptr;  // files for peers over shared memory; null: none
};

// Throws std::system_error if a descriptor or file that the carrier needs cannot be had, and std::bad_alloc.
std::unique_ptr<Carrier> open_carrier(const CarrierOptions& options);

}  // namespace softdat::transport
