// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "base/made_once.h"

namespace softdat::sanitize {

enum class Mode : std::uint8_t {
  kOff,
  kCompletions,  // only completions that are lost or doubled are told, and nothing is made visible by force
  kOn,
  kFull,
};

// Reads SOFTDAT_SANITIZE.
Mode read_mode();

// SOFTDAT_SANITIZE, read once. Any thread.
inline Mode mode() {
  static constinit base::FoundOnce<Mode> mode;
  return mode.get(read_mode);
}

}  // namespace softdat::sanitize
