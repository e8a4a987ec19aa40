// SPDX-License-Identifier: BSD-2-Clause
#include "base/unique_bytes.h"

#include <sys/auxv.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstring>

#include "base/mix.h"
#include "base/uncancelled.h"

namespace softdat::base {
namespace {

std::uint64_t now(clockid_t clock) {
  timespec time = {};
  ::clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

// The kernel gives each program 16 random bytes at its start; children made by fork() share them.
std::uint64_t seed() {
  static std::atomic<std::uint64_t> calls{0};
  std::uint64_t words[2] = {};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): getauxval() gives addresses as numbers.
  const auto* const at = reinterpret_cast<const void*>(::getauxval(AT_RANDOM));
  if (at != nullptr) std::memcpy(words, at, sizeof words);
  std::uint64_t state = mix(words[0]) ^ mix(words[1] + static_cast<std::uint64_t>(::getpid()));
  state = mix(state ^ now(CLOCK_REALTIME)) ^ mix(now(CLOCK_MONOTONIC));
  return mix(state + calls.fetch_add(1, std::memory_order_relaxed));
}

}  // namespace

void fill_with_unique_bytes(std::span<std::uint8_t> bytes) {
  const Uncancelled guard;
  // Non-blocking: early in boot the kernel's pool may not be ready, and a sandbox may refuse the call. Unique is enough
  // here; these bytes protect no secret.
  if (::getrandom(bytes.data(), bytes.size(), GRND_NONBLOCK) == static_cast<ssize_t>(bytes.size())) return;
  std::uint64_t state = seed();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i % sizeof state == 0) state = mix(state);
    bytes[i] = static_cast<std::uint8_t>(state >> 8 * (i % sizeof state));
  }
}

}  // namespace softdat::base
