// SPDX-License-Identifier: BSD-2-Clause
// What libsoftdat.so exports. A registry finds these by name; see docs/ARCHITECTURE.md.
#pragma once

#include "libdat/api/provider_info.h"

extern "C" {

// Adds the IA that `info` names to the registry that calls, with dat.conf's instance data. On
// failure nothing is added, and the reason is logged.
void dat_provider_init(const softdat::api::ProviderInfo* info, const char* instance_data);

// Removes it again.
void dat_provider_fini(const softdat::api::ProviderInfo* info);

// Not zero for every address that is, or ever was, a handle of this provider. Constant time, any
// thread; reads nothing through the pointer.
int softdat_owns_handle(const void* handle);

}  // extern "C"
