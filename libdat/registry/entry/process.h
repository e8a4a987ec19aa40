// SPDX-License-Identifier: BSD-2-Clause
// The state of this registry library, one of each per process. It is never destroyed: programs call
// DAT from atexit handlers and from threads that outlive main. Any thread.
#pragma once

#include <atomic>

#include "base/lasting.h"
#include "libdat/registry/ia_table.h"
#include "libdat/registry/provider_tables.h"
#include "libdat/registry/registry.h"

namespace softdat::registry {

// Named directly, because every data-path call reads it.
extern base::Lasting<ProviderTables> lasting_tables [[gnu::visibility("hidden")]];
inline ProviderTables& process_tables() {
  return lasting_tables.value;
}

Registry& process_registry();
IaTable& process_ias();

}  // namespace softdat::registry
