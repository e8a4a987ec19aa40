// SPDX-License-Identifier: BSD-2-Clause
// Draws: numbers that look random and are functions of what goes in (the finalizer of SplitMix64). For decisions that
// repeat. Any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace softdat::base {

// SplitMix64 adds it to its state at each draw.
inline constexpr std::uint64_t kMixStep = 0x9e37'79b9'7f4a'7c15;

constexpr std::uint64_t mix(std::uint64_t state) {
  state += kMixStep;
  state = (state ^ (state >> 30)) * 0xbf58'476d'1ce4'e5b9;
  state = (state ^ (state >> 27)) * 0x94d0'49bb'1331'11eb;
  return state ^ (state >> 31);
}

constexpr std::uint64_t mix(std::uint64_t state, std::string_view text) {
  for (const char letter : text) state = mix(state ^ static_cast<unsigned char>(letter));
  return mix(state);
}

}  // namespace softdat::base
