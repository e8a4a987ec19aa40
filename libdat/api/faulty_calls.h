// SPDX-License-Identifier: BSD-2-Clause
// Entry points whose waits a fault plan may let fail: they take the place of the others in the provider's table while
// SOFTDAT_FAULTS is set, and call those. Otherwise they cost nothing.
#pragma once

#include "libdat/api/abi.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {

// Once the table has all other entry points.
void fail_waits(DAT_PROVIDER& table);

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
