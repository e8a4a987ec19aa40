// SPDX-License-Identifier: BSD-2-Clause
// Which backend an IA is opened on: the flag that lets an unchanged program run on either.
#pragma once

#include <optional>
#include <string>

#include "libdat/backends/open_device.h"

namespace softdat::backends {

enum class Backend : std::uint8_t {
  kSim,
  kVerbs,
  kVerbsOrSim,  // real hardware if that is what the name stands for here, otherwise the simulator
};

struct BackendChoice {
  Backend backend = Backend::kSim;
  std::string target{};  // of verbs: an RDMA device, an interface or an address; empty: the first device
};

// In this order: SOFTDAT_BACKEND (sim, verbs, verbs:TARGET), the IA name (verbs:TARGET), a word of the
// instance data (sim, verbs, verbs:TARGET), instance data as OFED's files have it ("ib0 0", "10.1.2.3 0",
// "mlx5_0 1"), the simulator. SOFTDAT_BACKEND=verbs takes its target from the latter three. Nothing, with
// the reason logged, when SOFTDAT_BACKEND is none of these.
std::optional<BackendChoice> choose_backend(const DeviceChoice& choice);

}  // namespace softdat::backends
