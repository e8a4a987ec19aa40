// SPDX-License-Identifier: BSD-2-Clause
// Where this registry library lies. The provider, and a dat.conf that a package installs, lie beside it.
#pragma once

#include <string>

namespace softdat::registry {

// The path under which the loader found this library; empty if the loader does not know.
[[nodiscard]] std::string own_path();

// The directory of this library's file, with a slash at its end and symbolic links resolved: a package may put a link
// into the loader's directories and everything else elsewhere. Empty if it is not known.
[[nodiscard]] std::string own_directory();

}  // namespace softdat::registry
