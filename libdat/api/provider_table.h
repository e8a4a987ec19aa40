// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "libdat/api/abi.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {

// The table a registry dispatches through: every slot filled. Both pointers are kept as they are.
DAT_PROVIDER provider_table(const char* device_name, void* extension, bool is_thread_safe);

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
