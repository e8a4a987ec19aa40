// SPDX-License-Identifier: BSD-2-Clause
// Makes a simulated HCA ready for use: its carrier, its engine thread, its name.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/fault_plan.h"
#include "hca/device.h"
#include "simnic/model/profile.h"
#include "simnic/rnr_policy.h"
#include "transport/open_carrier.h"

namespace softdat::simnic {

struct NicOptions {
  std::string name = "sim0";
  base::IpAddress address{.ipv4 = 0x7f000001};  // without a port
  transport::CarrierKind carrier = transport::CarrierKind::kAuto;
  bool crc = false;  // asks for CRC32C on the TCP wire
  transport::MpaStyle mpa = transport::MpaStyle::kPeerToPeer;
  base::Duration tcp_timeout = std::chrono::seconds(60);  // see transport::CarrierOptions
  RnrPolicy rnr = RnrPolicy::kWait;
  // For how long a connect that finds no listener tries again, within its own time-out.
  base::Duration connect_grace = std::chrono::milliseconds(500);
  hca::DirectAccess direct = hca::DirectAccess::kWhereHarmless;  // where the system can; not with faults
  base::FaultPlan faults{};                                      // no rules: none
  std::uint64_t nasty = 0;                                       // seed of the nasty mode; 0: off
  std::shared_ptr<const model::Profile> profile = nullptr;       // as NicConfig
};

// Null, with the reason logged, if the log of faults cannot be written. Throws as transport::open_carrier().
std::unique_ptr<hca::Device> open_nic(const NicOptions& options);

}  // namespace softdat::simnic
