// SPDX-License-Identifier: BSD-2-Clause
// Which libdat2.so.2 the loader gave to this process.
#pragma once

#include <string>

namespace softdat::tools {

struct RegistryLibrary {
  std::string path;
  bool is_ours = false;
};

RegistryLibrary registry_library();

// The directory of SoftDAT's own libraries, as they lie beside an installed or a built softdat; else that of the
// registry in use, if it is ours. Empty when they are not found.
std::string own_library_directory();

// Warns on standard error when the registry is not SoftDAT's, and says how to have ours.
void warn_of_other_registry();

}  // namespace softdat::tools
