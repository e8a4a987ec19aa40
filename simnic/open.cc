// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/open.h"

#include <utility>

#include "simnic/fault/faulty_nic.h"
#include "simnic/fault/injector.h"
#include "simnic/nic.h"
#include "simnic/observed_carrier.h"

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

// One for all adapters of the process.
std::shared_ptr<fault::Journal> journal() {
  static const auto shared = std::make_shared<fault::Journal>();
  return shared;
}

}  // namespace

std::unique_ptr<hca::Device> open_nic(const NicOptions& options) {
  using transport::CarrierKind;
  const bool has_faults = !options.faults.rules.empty();
  if (has_faults && !journal()->is_usable()) return nullptr;
  hca::MemoryObserver* const observer = hca::memory_observer.load();
  const auto direct = has_faults || observer != nullptr ? hca::DirectAccess::kNone : options.direct;
  const bool has_shm = options.carrier == CarrierKind::kAuto || options.carrier == CarrierKind::kShm;
  const auto home = has_shm ? make_home(direct) : nullptr;
  auto carrier = transport::open_carrier({.kind = options.carrier,
                                          .address = options.address,
                                          .crc = options.crc,
                                          .mpa = options.mpa,
                                          .tcp_timeout = options.tcp_timeout,
                                          .resources = home});
  if (observer != nullptr) carrier = std::make_unique<ObservedCarrier>(std::move(carrier), *observer);
  const NicConfig config{.name = options.name,
                         .address = options.address,
                         .rnr = options.rnr,
                         .connect_grace = options.connect_grace,
                         .home = home,
                         .direct = direct};
  if (!has_faults) return std::make_unique<Nic>(std::move(carrier), config);
  auto injector = std::make_shared<fault::Injector>(options.faults, fault::process_name(), options.name, journal());
  return std::make_unique<fault::FaultyNic>(std::move(carrier), config, std::move(injector));
}

}  // namespace softdat::simnic
