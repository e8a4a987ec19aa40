// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "libdat/sanitize/operation.h"

namespace softdat::sanitize {

// A checksum of [address, address + length), which continues that of the ranges before it. Nothing if the memory cannot
// be read. Any thread; the memory may change or go away meanwhile.
std::optional<std::uint64_t> checksum(std::uint64_t address, std::uint64_t length, std::uint64_t before);

// The same of all ranges, one after the other.
std::optional<std::uint64_t> checksum(std::span<const Range> ranges);

}  // namespace softdat::sanitize
