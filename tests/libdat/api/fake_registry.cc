// SPDX-License-Identifier: BSD-2-Clause
#include "tests/libdat/api/fake_registry.h"

namespace softdat::api {
namespace {

const void* known_ia = nullptr;
void* known_integer = nullptr;

}  // namespace

RegistryCalls& registry_calls() {
  static RegistryCalls calls;
  return calls;
}

void set_integer_of(const void* ia_handle, void* integer) {
  known_ia = ia_handle;
  known_integer = integer;
}

}  // namespace softdat::api

using softdat::api::ProviderInfo;
using softdat::api::registry_calls;

extern "C" {

[[gnu::visibility("default")]] unsigned dat_registry_add_provider(const void* table, const ProviderInfo* info) {
  registry_calls().added_table = table;
  registry_calls().added_info = *info;
  ++registry_calls().added;
  return 0;
}

[[gnu::visibility("default")]] unsigned dat_registry_remove_provider(const void* table, const ProviderInfo*) {
  registry_calls().removed_table = table;
  ++registry_calls().removed;
  return 0;
}

[[gnu::visibility("default")]] unsigned dats_get_ia_handle(void* in, void** out) {
  if (in == nullptr || in != softdat::api::known_ia) return 0x80050000;
  *out = softdat::api::known_integer;
  return 0;
}

}  // extern "C"
