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

// Warns on standard error when the registry is not SoftDAT's, and says how to have ours.
void warn_of_other_registry();

}  // namespace softdat::tools
