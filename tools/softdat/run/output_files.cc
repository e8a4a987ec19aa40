// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/run/output_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "tools/softdat/command_line.h"

namespace softdat::tools::run {
namespace {

namespace fs = std::filesystem;

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  const fs::file_status status = fs::status(a, ignored);
  // Devices such as /dev/null may be named as often as one likes.
  if (fs::exists(status) && !fs::is_regular_file(status)) return false;
  // Hard links have nothing but this in common.
  if (fs::equivalent(a, b, ignored)) return true;
  const fs::path path = fs::weakly_canonical(fs::absolute(a, ignored), ignored);
  return !path.empty() && path == fs::weakly_canonical(fs::absolute(b, ignored), ignored);
}

}  // namespace

void require_different(const std::vector<OutputFile>& files) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (std::size_t j = i + 1; j < files.size(); ++j) {
      const OutputFile &first = files[i], &second = files[j];
      if (first.name.empty() || second.name.empty() || !is_same_file(first.name, second.name)) continue;
      throw UsageError(fmt::format("{} \"{}\" and {} \"{}\" are one file. Name two", first.option, first.name,
                                   second.option, second.name));
    }
  }
}

void require_files(const std::vector<OutputFile>& files) {
  for (const OutputFile& file : files) {
    if (file.name != "-") continue;
    throw UsageError(
        fmt::format("{} \"-\": standard output belongs to the programs. Name a file (\"./-\" is one)", file.option));
  }
}

}  // namespace softdat::tools::run
