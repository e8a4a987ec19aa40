// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

namespace softdat::sanitize {

enum class Mode : std::uint8_t {
  kOff,
  kCompletions,  // only completions that are lost or doubled are told, and nothing is made visible by force
  kOn,
  kFull,
};

// SOFTDAT_SANITIZE, read once. Any thread.
Mode mode();

}  // namespace softdat::sanitize
