// SPDX-License-Identifier: BSD-2-Clause
// What fuzz targets have in common. Each target defines LLVMFuzzerTestOneInput(); clang's libFuzzer calls it, or
// replay_main.cc, which any compiler builds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace softdat::fuzz {

using Input = std::span<const std::byte>;

inline Input as_input(const std::uint8_t* data, std::size_t size) {
  return std::as_bytes(std::span(data, size));
}

// Ends the run: the code under test broke a promise.
inline void expect(bool holds, const char* promise) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

}  // namespace softdat::fuzz
