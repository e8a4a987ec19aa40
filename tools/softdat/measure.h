// SPDX-License-Identifier: BSD-2-Clause
// The measurements of the quickstart. Both sides walk the same list in step; the connecting side
// holds the clock.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "tools/softdat/peer.h"

namespace softdat::tools {

enum class Operation { kSend, kWrite, kRead };

std::string_view to_text(Operation operation);

struct Measurement {
  Operation operation;
  std::size_t size;       // bytes
  double latency_us;      // send, write: half a round trip; read: one read
  double bandwidth_mb_s;  // 10^6 bytes a second, one way, 16 operations in flight
};

// What is measured, in order.
std::vector<std::size_t> measured_sizes();
inline constexpr std::size_t kBufferSize = std::size_t{4} << 20;

// The side that holds the clock: `on_result` is called after each pair of measurements.
void measure_all(Peer& peer, const std::function<void(const Measurement&)>& on_result);

// The other side's part of the same list.
void serve_all(Peer& peer);

}  // namespace softdat::tools
