// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/registry_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "tools/softdat/output.h"

namespace softdat::tools {
namespace {

namespace fs = std::filesystem;

// The directory of our own libdat2.so.2, as it lies beside an installed or a built softdat.
std::string own_directory() {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  for (const char* const directory : {"../lib", "../" SOFTDAT_LIBDIR}) {
    const fs::path found = (program.parent_path() / directory).lexically_normal();
    if (fs::exists(found / "libsoftdat.so", ignored)) return found.string();
  }
  return "DIRECTORY";
}

}  // namespace

RegistryLibrary registry_library() {
  RegistryLibrary library;
  Dl_info where{};
  if (::dladdr(::dlsym(RTLD_DEFAULT, "dat_registry_list_providers"), &where) != 0) {
    library.path = fs::path(where.dli_fname).lexically_normal().string();
  }
  // OFED's registry lacks this function of DAT 2.0.
  library.is_ours = ::dlsym(RTLD_DEFAULT, "dat_registry_providers_related") != nullptr;
  return library;
}

void warn_of_other_registry() {
  const RegistryLibrary library = registry_library();
  if (library.is_ours) return;
  print_warning(
      fmt::format("the DAT registry is {}, not SoftDAT's, and may not know \"sim0\"; for SoftDAT's: LD_LIBRARY_PATH={}",
                  library.path, own_directory()));
}

}  // namespace softdat::tools
