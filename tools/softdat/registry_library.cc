// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/registry_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "tools/softdat/output.h"

namespace softdat::tools {
namespace {

namespace fs = std::filesystem;

bool has_libraries(const fs::path& directory) {
  std::error_code ignored;
  return fs::exists(directory / "libsoftdat.so", ignored) && fs::exists(directory / "libdat2.so.2", ignored);
}

}  // namespace

std::string own_library_directory() {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  for (const char* const directory : {"../lib", "../" SOFTDAT_LIBDIR, "../" SOFTDAT_LIBDIR "/softdat"}) {
    const fs::path found = (program.parent_path() / directory).lexically_normal();
    if (has_libraries(found)) return found.string();
  }
  const RegistryLibrary registry = registry_library();
  const fs::path loaded = fs::path(registry.path).parent_path();
  return registry.is_ours && has_libraries(loaded) ? loaded.string() : "";
}

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
  const std::string directory = own_library_directory();
  print_warning(
      fmt::format("the DAT registry is {}, not SoftDAT's, and may not know \"sim0\"; for SoftDAT's: LD_LIBRARY_PATH={}",
                  library.path, directory.empty() ? "DIRECTORY" : directory));
}

}  // namespace softdat::tools
