// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/open.h"

#include "simnic/nic.h"

namespace softdat::simnic {

std::unique_ptr<hca::Device> open_nic(const NicOptions& options) {
  using transport::CarrierKind;
  const bool has_shm = options.carrier == CarrierKind::kAuto || options.carrier == CarrierKind::kShm;
  const bool is_direct = options.direct && has_shm;
  const auto home = is_direct ? transport::direct::Home::create() : nullptr;
  auto carrier = transport::open_carrier(
      {.kind = options.carrier, .ipv4 = options.ipv4, .crc = options.crc, .mpa = options.mpa, .home = home});
  return std::make_unique<Nic>(std::move(carrier),
                               NicConfig{.name = options.name, .ipv4 = options.ipv4, .rnr = options.rnr, .home = home});
}

}  // namespace softdat::simnic
