// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/open.h"

#include "simnic/nic.h"

namespace softdat::simnic {
namespace {

std::shared_ptr<direct::Home> make_home(hca::DirectAccess access) {
  using direct::Home;
  using memory::MoveWhen;
  switch (access) {
    case hca::DirectAccess::kNone:
      break;
    case hca::DirectAccess::kWhereHarmless:
      return Home::create(MoveWhen::kHarmless);
    case hca::DirectAccess::kWhereAble:
      return Home::create(MoveWhen::kAlways);
  }
  return nullptr;
}

}  // namespace

std::unique_ptr<hca::Device> open_nic(const NicOptions& options) {
  using transport::CarrierKind;
  const bool has_shm = options.carrier == CarrierKind::kAuto || options.carrier == CarrierKind::kShm;
  const auto home = has_shm ? make_home(options.direct) : nullptr;
  auto carrier = transport::open_carrier({.kind = options.carrier,
                                          .address = options.address,
                                          .crc = options.crc,
                                          .mpa = options.mpa,
                                          .tcp_timeout = options.tcp_timeout,
                                          .resources = home});
  return std::make_unique<Nic>(std::move(carrier), NicConfig{.name = options.name,
                                                             .address = options.address,
                                                             .rnr = options.rnr,
                                                             .connect_grace = options.connect_grace,
                                                             .home = home,
                                                             .direct = options.direct});
}

}  // namespace softdat::simnic
