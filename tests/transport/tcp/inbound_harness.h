// SPDX-License-Identifier: BSD-2-Clause
// Feeds bytes to an Inbound through a socket and checks that it keeps its promises whatever they
// are. Used by the random tests and by the coverage-guided fuzzer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/tcp/inbound.h"

namespace softdat::transport::tcp {

struct HarnessResult {
  ReadStatus status = ReadStatus::kDrained;
  TerminateCode fault{};
  std::uint64_t messages = 0;
  std::uint64_t payload = 0;  // bytes placed
};

// `cut` bytes at a time; aborts when a promise is broken.
HarnessResult feed(std::span<const std::byte> bytes, const InboundRules& rules, std::size_t cut);

// The same, under rules and cuts that the first byte chooses: the fuzzer's entry.
void feed_any(std::span<const std::byte> bytes);

}  // namespace softdat::transport::tcp
