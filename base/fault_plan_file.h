// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace softdat::base {

// No plan is longer, so that a device or a wrong file is not read without end.
inline constexpr std::size_t kMostPlanBytes = std::size_t{64} << 20;

// The text of the file, or why it cannot be read. Throws std::bad_alloc only.
Result<std::string, std::string> read_plan_file(const std::string& path);

}  // namespace softdat::base
