// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/run/parts_directory.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/unique_fd.h"
#include "tools/softdat/dat_call.h"
#include "tools/softdat/figures.h"

namespace softdat::tools::run {

namespace fs = std::filesystem;

PartsDirectory::PartsDirectory(const char* what, const std::string& file) : what_(what) {
  require_regular(file);
  // Made before the run, so that a name that cannot be written costs no run. What is there stays until the run's end:
  // the program may never begin.
  const base::UniqueFd made(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (!made) throw Failure(fmt::format("cannot write the {} \"{}\": {}", what, file, std::strerror(errno)));
  const fs::path path = fs::absolute(file);
  directory_.emplace(path.filename().string() + ".parts", path.parent_path().string());
}

std::size_t PartsDirectory::merge(const std::function<void(const std::vector<std::string>&)>& make) {
  std::vector<std::string> parts;
  for (const auto& entry : fs::directory_iterator(path())) parts.push_back(entry.path().string());
  std::sort(parts.begin(), parts.end());
  // From here on the parts stay, unless the whole is written: they are all that is left of the run.
  directory_->keep(!parts.empty());
  try {
    make(parts);
  } catch (const Failure& failure) {
    if (parts.empty()) throw;
    throw Failure(fmt::format("{}; the {}s of the single processes are in \"{}\"", failure.what(), what_, path()));
  }
  directory_->keep(false);
  return parts.size();
}

}  // namespace softdat::tools::run
