// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "tests/transport/conformance/world.h"

namespace softdat::transport::conformance {

std::vector<WorldFactory> tcp_worlds();

// Loopback addresses that no other process of this host uses, so that tests may run side by side.
std::uint32_t own_loopback_address(std::uint32_t number);

}  // namespace softdat::transport::conformance
