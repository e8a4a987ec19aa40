// SPDX-License-Identifier: BSD-2-Clause
// How unkind a loop network is. The defaults move everything at once, in order, without delay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/clock.h"

namespace softdat::transport::loop {

struct LoopOptions {
  static constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

  // 0: channels are served in the order they became busy. Otherwise that order, the delays and
  // random chunk sizes follow from the seed and nothing else. Within a channel order always holds.
  std::uint64_t seed = 0;
  // Each item may be delivered at the earliest a random time up to this after it was sent.
  base::Duration max_delay{0};
  // Bytes on their way in one direction of a channel before send() answers kBlocked.
  std::size_t capacity = std::size_t{1} << 20;
  // Payload bytes that one call of send() takes before it answers kBlocked.
  std::size_t max_per_send = kUnlimited;
  // Most payload bytes that one place() is asked for; with random_chunks any number from 1 to this.
  std::size_t max_chunk = std::size_t{64} << 10;
  bool random_chunks = false;
  // Most items that one channel delivers in one turn().
  std::size_t items_per_turn = kUnlimited;
};

}  // namespace softdat::transport::loop
