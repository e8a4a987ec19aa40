// SPDX-License-Identifier: BSD-2-Clause
// Numbers in bytes that are not ours, in either byte order. Runs on any thread.
#pragma once

#include <cstddef>
#include <cstring>
#include <optional>
#include <span>

#include "base/byte_order.h"

namespace softdat::tools::capture {

// The number at byte `at`; none if it does not end within the bytes.
template <typename Number>
std::optional<Number> load(std::span<const std::byte> bytes, std::size_t at, bool is_big_endian) {
  if (at + sizeof(Number) > bytes.size()) return std::nullopt;
  if (is_big_endian) return base::load_be<Number>(bytes.data() + at);
  Number number;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

}  // namespace softdat::tools::capture
