// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "tests/transport/conformance/world.h"

namespace softdat::transport::conformance {

// Shared memory alone, and the carrier that chooses by itself.
std::vector<WorldFactory> shm_worlds();

}  // namespace softdat::transport::conformance
