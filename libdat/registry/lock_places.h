// SPDX-License-Identifier: BSD-2-Clause
// The places of the locks of this room in the order of locks (base/lock_order.h).
#pragma once

#include <array>

#include "base/lock_order.h"

namespace softdat::locks {

inline constexpr base::LockPlace kRegistry{20, "Registry::mutex_",
                                           "the two registries are read or changed; not while a provider is called"};
inline constexpr base::LockPlace kIaTable{20, "IaTable::mutex_", "the table of open IAs is used"};
inline constexpr base::LockPlace kProviderTables{20, "ProviderTables::mutex_", "the list of loaded providers is used"};
inline constexpr base::LockPlace kOpenQueries{20, "OpenQueries::mutex", "the list of open queries is used"};

inline constexpr std::array kOfRegistry = {&kRegistry, &kIaTable, &kProviderTables, &kOpenQueries};

}  // namespace softdat::locks
