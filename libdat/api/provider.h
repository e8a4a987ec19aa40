// SPDX-License-Identifier: BSD-2-Clause
// What libsoftdat.so exports. A registry finds these by name; see docs/ARCHITECTURE.md.
#pragma once

#include "base/forks.h"
#include "base/handle_range.h"
#include "libdat/api/provider_info.h"

extern "C" {

// Adds the IA that `info` names to the registry that calls, with dat.conf's instance data. On
// failure nothing is added, and the reason is logged.
void dat_provider_init(const softdat::api::ProviderInfo* info, const char* instance_data);

// Removes it again.
void dat_provider_fini(const softdat::api::ProviderInfo* info);

// Where this provider's handles lie. Never null, and the same for as long as the process lives.
const softdat::base::HandleRange* softdat_handle_range();

// What this provider does around fork(). The registry that calls this must call these functions at each fork; without
// it the C library calls them. Never null, and the same for as long as the process lives.
const softdat::base::ForkHandlers* softdat_fork_handlers();

}  // extern "C"
