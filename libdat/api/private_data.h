// SPDX-License-Identifier: BSD-2-Clause
// The private data that a program gives to connect, accept and reject: how its size is checked. Sizes are bytes. Any
// thread; takes no lock. The data stays the program's, and is read while the call runs.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/assert.h"
#include "libdat/api/answer.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/object/refusal.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {

// Checks a size and the pointer after it, which are arguments `number` and `number` + 1: the size
// may be neither negative nor beyond what the device carries, the pointer null only without bytes.
inline Status check_private_data(const object::InterfaceAdapter& ia, DAT_COUNT size, const void* data, int number) {
  const std::uint32_t most = ia.device().attributes().max_private_data;
  if (size < 0 || static_cast<std::uint32_t>(size) > most) {
    return object::because(object::invalid_parameter(argument(number)), [&] {
      return "private_data_size is " + std::to_string(size) + ", and the adapter takes " + std::to_string(most) +
             " bytes at most (max_private_data_size of dat_ia_query)";
    });
  }
  if (size > 0 && data == nullptr) return object::invalid_parameter(argument(number + 1));
  return object::kOk;
}

// Requires that check_private_data() was content.
inline std::span<const std::byte> private_data_of(DAT_COUNT size, const void* data) {
  SOFTDAT_DEBUG_CHECK(size >= 0 && (size == 0 || data != nullptr), "check_private_data() comes first",
                      static_cast<std::uint64_t>(size));
  return {static_cast<const std::byte*>(data), static_cast<std::size_t>(size)};
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
