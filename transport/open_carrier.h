// SPDX-License-Identifier: BSD-2-Clause
// The one place that knows which carriers there are.
#pragma once

#include <cstdint>
#include <memory>

#include "transport/carrier.h"

namespace softdat::transport {

enum class CarrierKind {
  kAuto,  // shared memory where it reaches, TCP everywhere else
  kShm,
  kTcp,
};

struct CarrierOptions {
  CarrierKind kind = CarrierKind::kAuto;
  std::uint32_t ipv4 = 0x7f000001;  // this carrier's own address, in host byte order
  bool crc = false;                 // asks for CRC32C on TCP
};

// Aborts only when the system has no descriptors left at all.
std::unique_ptr<Carrier> open_carrier(const CarrierOptions& options);

}  // namespace softdat::transport
