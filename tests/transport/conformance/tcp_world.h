// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "tests/own_address.h"
#include "tests/transport/conformance/world.h"

namespace softdat::transport::conformance {

std::vector<WorldFactory> tcp_worlds();

}  // namespace softdat::transport::conformance
