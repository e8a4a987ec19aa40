// SPDX-License-Identifier: BSD-2-Clause
// Entry points that tell the sanitizer's ledger of each call: they take the place of the others in the provider's table
// while SOFTDAT_SANITIZE is on, and call those. Nobody pays for them otherwise.
#pragma once

#include "libdat/api/abi.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {

// Once the table is complete.
void watch(DAT_PROVIDER& table, bool is_thread_safe);

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
