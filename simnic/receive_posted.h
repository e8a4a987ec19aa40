// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

namespace softdat::simnic {

// The outcome of a post of a receive. An enumeration and no bool, because a Result keeps it in a register then.
enum class ReceivePosted : std::uint8_t {
  kDone,
  kMustRing,  // the caller rings the engine
};

}  // namespace softdat::simnic
