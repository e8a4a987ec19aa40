// SPDX-License-Identifier: BSD-2-Clause
// What fuzz targets have in common. Each target defines run_input(); target_main.cc calls it for each input that
// clang's libFuzzer makes, or replay_main.cc, which any compiler builds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace softdat::fuzz {

using Input = std::span<const std::byte>;

// The target. What it keeps from one input to the next must not change what an input shows.
void run_input(Input input);

// The target's preparations before the first input, and what it ends after the last. Both are optional.
void prepare();
void finish();

// One input often holds many units: the calls of a sequence, the messages of a stream. They are counted apart from the
// inputs and printed beside them. `name` lives as long as the process.
void count_units(const char* name, std::uint64_t count);

// Ends the run: the code under test broke a promise.
inline void expect(bool holds, const char* promise) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

}  // namespace softdat::fuzz
