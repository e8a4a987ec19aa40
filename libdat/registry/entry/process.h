// SPDX-License-Identifier: BSD-2-Clause
// The state of this registry library, one of each per process. It is never destroyed: programs call
// DAT from atexit handlers and from threads that outlive main. Any thread.
#pragma once

#include <atomic>

#include "base/backoff.h"
#include "libdat/registry/ia_table.h"
#include "libdat/registry/provider_tables.h"
#include "libdat/registry/registry.h"

namespace softdat::registry {

// A global that is there before any constructor runs and is never destroyed.
template <typename T>
union Lasting {
  constexpr Lasting() : value() {}
  ~Lasting() {}
  T value;
};

// Named directly, because every data-path call reads it.
extern Lasting<ProviderTables> lasting_tables [[gnu::visibility("hidden")]];
inline ProviderTables& process_tables() {
  return lasting_tables.value;
}

Registry& process_registry();
IaTable& process_ias();

// Takes a lock in a fork handler, by polling: lock() would break the lock order, because the provider's handlers have
// run before and hold locks with greater places. No thread that holds a lock of the registry waits for one of those.
template <typename Lockable>
void take_before_fork(Lockable& lockable) {
  for (base::Backoff backoff; !lockable.try_lock();) backoff.wait();
}

}  // namespace softdat::registry
