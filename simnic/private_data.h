// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <new>
#include <span>

#include "hca/connection.h"

namespace softdat::simnic {

// Copies what came with a peer's word. False without memory for it; `kept` is what it was then.
[[nodiscard]] inline bool keep(std::span<const std::byte> private_data, hca::Bytes& kept) try {
  kept.assign(private_data.begin(), private_data.end());
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

}  // namespace softdat::simnic
