// SPDX-License-Identifier: BSD-2-Clause
// Bytes that tell which message they belong to and where in it they stand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace softdat::tools::perf {

void fill_pattern(std::uint8_t* bytes, std::size_t length, std::uint64_t seed);

// Where the bytes first differ from what fill_pattern() of that seed gives; nothing if they do not.
std::optional<std::size_t> find_difference(const std::uint8_t* bytes, std::size_t length, std::uint64_t seed);

}  // namespace softdat::tools::perf
