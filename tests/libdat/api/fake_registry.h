// SPDX-License-Identifier: BSD-2-Clause
// The registry that dat_provider_init finds in the test program: it remembers what was added.
#pragma once

#include "libdat/api/provider_info.h"

namespace softdat::api {

struct RegistryCalls {
  const void* added_table = nullptr;
  ProviderInfo added_info{};
  int added = 0;
  const void* removed_table = nullptr;
  int removed = 0;
};

RegistryCalls& registry_calls();

// What dats_get_ia_handle makes of our IA handles from now on; null: it does not know them.
void set_integer_of(const void* ia_handle, void* integer);

}  // namespace softdat::api
