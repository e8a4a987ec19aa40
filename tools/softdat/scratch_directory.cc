// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/scratch_directory.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "tools/softdat/dat_call.h"

namespace softdat::tools {

std::string temporary_directory() {
  const char* const asked = std::getenv("TMPDIR");
  return asked != nullptr && asked[0] == '/' ? asked : "/tmp";
}

ScratchDirectory::ScratchDirectory(const std::string& name, const std::string& parent)
    : path_(parent + '/' + name + "-XXXXXX") {
  if (::mkdtemp(path_.data()) != nullptr) return;
  const int error = errno;
  const char* const remedy = parent == temporary_directory() ? "; set TMPDIR to one that can be written" : "";
  throw Failure(fmt::format("cannot make the directory \"{}\": {}{}", path_, std::strerror(error), remedy));
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  if (!is_kept_) std::filesystem::remove_all(path_, ignored);
}

}  // namespace softdat::tools
