// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/api/calling_registry.h"

#include <dlfcn.h>

namespace softdat::api {
namespace {

// The library that holds `address`, if it is one that exports a registry. The handle is not closed:
// the registry's functions are kept, so it must not go away before us.
void* open_library_of(const void* address) {
  Dl_info info{};
  if (::dladdr(address, &info) == 0 || info.dli_fname == nullptr) return nullptr;
  void* library = ::dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  if (::dlsym(library, "dat_registry_add_provider") != nullptr) return library;
  ::dlclose(library);
  return nullptr;
}

}  // namespace

CallingRegistry find_calling_registry(const void* return_address) {
  void* library = open_library_of(return_address);
  void* scope = library == nullptr ? RTLD_DEFAULT : library;
  CallingRegistry registry;
  registry.add_provider = ::dlsym(scope, "dat_registry_add_provider");
  registry.remove_provider = ::dlsym(scope, "dat_registry_remove_provider");
  registry.get_ia_handle = ::dlsym(scope, "dats_get_ia_handle");
  return registry;
}

}  // namespace softdat::api
