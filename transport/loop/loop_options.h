// SPDX-License-Identifier: BSD-2-Clause
// Delays, limits and disorder of a loop network. The defaults deliver all items in order, without delay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/clock.h"

namespace softdat::transport::loop {

struct LoopOptions {
  static constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

  // 0: channels are served in the order in which they became busy. Otherwise the seed alone decides that order, the
  // delays and the random chunk sizes. Within a channel items keep their order.
  std::uint64_t seed = 0;
  // Each item is delayed by a random time up to this.
  base::Duration max_delay{0};
  // How many bytes may be on their way in one direction of a channel before send() returns kBlocked.
  std::size_t capacity = std::size_t{1} << 20;
  // How many payload bytes one call of send() takes before it returns kBlocked.
  std::size_t max_per_send = kUnlimited;
  // How many payload bytes one place() is called for at most; with random_chunks a random number from 1 to this.
  std::size_t max_chunk = std::size_t{64} << 10;
  bool random_chunks = false;
  // How many items one channel delivers in one turn() at most.
  std::size_t items_per_turn = kUnlimited;
};

}  // namespace softdat::transport::loop
