// SPDX-License-Identifier: BSD-2-Clause
// Entry points that tell the timeline of posts, polls, waits and registrations: they take the place of the others in
// the provider's table while SOFTDAT_TIMELINE is set, and call those. Nobody pays for them otherwise.
#pragma once

#include "libdat/api/abi.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {

// Once the table has all other entry points.
void time_calls(DAT_PROVIDER& table);

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
