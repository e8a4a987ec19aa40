// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

namespace softdat::simnic {

// The outcome of a post of a receive. An enumeration, because a Result of one stays in a register; a Result<bool>
// stalls on store forwarding.
enum class ReceivePosted : std::uint8_t {
  kDone,
  kMustRing,  // the caller rings the engine
};

}  // namespace softdat::simnic
