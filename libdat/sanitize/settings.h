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

// Reads SOFTDAT_SANITIZE.
Mode read_mode();

// SOFTDAT_SANITIZE, read once. Any thread.
inline Mode mode() {
  static const Mode mode = read_mode();
  return mode;
}

}  // namespace softdat::sanitize
