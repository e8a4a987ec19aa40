// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/open.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/per_process.h"
#include "memory/fork_handlers.h"
#include "simnic/capture/capturing_carrier.h"
#include "simnic/fault/faulty_nic.h"
#include "simnic/fault/injector.h"
#include "simnic/lock_places.h"
#include "simnic/nasty/nasty_carrier.h"
#include "simnic/nic.h"
#include "simnic/observed_carrier.h"
#include "simnic/port_base.h"
#include "simnic/timeline/timed_carrier.h"

namespace softdat::simnic {
namespace {

// Null: direct access is off, or the system cannot do it.
std::shared_ptr<direct::DirectContext> make_direct_context(hca::DirectAccess access) {
  using direct::DirectContext;
  using memory::MoveWhen;
  switch (access) {
    case hca::DirectAccess::kNone:
      break;
    case hca::DirectAccess::kWhereHarmless:
      return DirectContext::create(MoveWhen::kHarmless);
    case hca::DirectAccess::kWhereAble:
      return DirectContext::create(MoveWhen::kAlways);
  }
  return nullptr;
}

// One for all adapters of the process. A child of fork() has another: the lock of its parent's may be held for ever.
std::shared_ptr<fault::Journal> journal() {
  static constinit base::PerProcess<std::shared_ptr<fault::Journal>, locks::kJournalCreation> journals;
  const auto own = journals.lock(memory::fork_generation());
  if (*own == nullptr) *own = std::make_shared<fault::Journal>();
  return *own;
}

// How long the nasty mode makes private data. The connection messages of iWARP have a length for private data (RFC 5044
// section 7.1), those of InfiniBand have none.
std::size_t padded_private_data(const model::Profile* profile) {
  if (profile == nullptr) return transport::kMaxPrivateData;
  if (profile->family == model::Family::kIwarp) return 0;
  return std::min<std::uint64_t>(transport::kMaxPrivateData,
                                 profile->number(model::Field::kMaxPrivateData, transport::kMaxPrivateData));
}

}  // namespace

std::unique_ptr<hca::Device> open_nic(const NicOptions& options) {
  using transport::CarrierKind;
  const bool has_faults = !options.faults.rules.empty();
  // The file that the user asked for cannot be written: refuse rather than run without a record.
  if ((has_faults || options.nasty != 0) && !journal()->is_usable()) return nullptr;
  capture::Recorder* const recorder = capture::Recorder::of_process();
  hca::MemoryObserver* const observer = hca::memory_observer.load();
  // Wrappers between NIC and carrier see only messages; direct access would pass them by.
  const bool sees_messages = has_faults || recorder != nullptr || options.nasty != 0 || observer != nullptr;
  const auto direct = sees_messages ? hca::DirectAccess::kNone : options.direct;
  const bool has_shm = options.carrier == CarrierKind::kAuto || options.carrier == CarrierKind::kShm;
  const auto direct_context = has_shm ? make_direct_context(direct) : nullptr;
  std::unique_ptr<transport::Carrier> carrier = transport::open_carrier({.kind = options.carrier,
                                                                         .address = options.address,
                                                                         .crc = options.crc,
                                                                         .mpa = options.mpa,
                                                                         .tcp_timeout = options.tcp_timeout,
                                                                         .resources = direct_context});
  transport::Carrier& innermost = *carrier;
  std::uint32_t port_base = 0;
  // From the carrier outwards: capture, timeline, nasty mode, observer, then the NIC. A capture shows what really goes
  // over the wire.
  if (recorder != nullptr) {
    auto capturing =
        std::make_unique<capture::CapturingCarrier>(std::move(carrier), *recorder, options.name, options.address);
    port_base = capturing->port_base();
    carrier = std::move(capturing);
  }
  if (base::Timeline* const timeline = base::Timeline::of_process()) {
    static std::atomic<std::uint32_t> adapters{0};
    if (recorder == nullptr) port_base = port_base_of(timeline->file().number(), adapters.fetch_add(1));
    carrier = std::make_unique<timeline::TimedCarrier>(std::move(carrier), *timeline);
  }
  if (options.nasty != 0) {
    auto decisions = std::make_shared<nasty::Decisions>(options.nasty, fault::process_name(), options.name, journal());
    carrier = std::make_unique<nasty::NastyCarrier>(std::move(carrier), std::move(decisions), port_base,
                                                    padded_private_data(options.profile.get()));
  }
  // Above the nasty mode, which stores later than messages arrive.
  if (observer != nullptr) carrier = std::make_unique<ObservedCarrier>(std::move(carrier), *observer);
  const NicConfig config{.name = options.name,
                         .address = options.address,
                         .rnr = options.rnr,
                         .connect_grace = options.connect_grace,
                         .direct_context = direct_context,
                         .direct = direct,
                         .nasty = options.nasty,
                         .port_base = port_base,
                         .profile = options.profile};
  std::unique_ptr<Nic> nic;
  if (has_faults) {
    auto injector = std::make_shared<fault::Injector>(options.faults, fault::process_name(), options.name, journal());
    nic = std::make_unique<fault::FaultyNic>(std::move(carrier), config, std::move(injector));
  } else {
    nic = std::make_unique<Nic>(std::move(carrier), config);
  }
  nic->allow_captures(innermost);
  return nic;
}

}  // namespace softdat::simnic
