// SPDX-License-Identifier: BSD-2-Clause
// Asks the kernel about memory that a consumer names, without touching it.
#pragma once

#include <cstdint>

namespace softdat::object {

// True when every byte of [address, address + length) is mapped and may be read (and written, when
// `is_written`) by this process now. Requires that the range is not empty and does not wrap.
bool is_accessible(std::uint64_t address, std::uint64_t length, bool is_written);

}  // namespace softdat::object
