// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/run/parts_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/unique_fd.h"
#include "tools/softdat/dat_call.h"
#include "tools/softdat/figures.h"

namespace softdat::tools::run {

namespace fs = std::filesystem;

PartsDirectory::PartsDirectory(const char* what, const std::string& file) : what_(what) {
  require_regular(file);
  const base::UniqueFd made(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!made) throw Failure(fmt::format("cannot write the {} \"{}\": {}", what, file, std::strerror(errno)));
  std::string path = fs::absolute(file).string() + ".parts-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) {
    throw Failure(fmt::format("cannot make a directory beside the {} \"{}\": {}", what, file, std::strerror(errno)));
  }
  path_ = path;
}

PartsDirectory::~PartsDirectory() {
  std::error_code ignored;
  if (!is_kept_) fs::remove_all(path_, ignored);
}

std::size_t PartsDirectory::merge(const std::function<void(const std::vector<std::string>&)>& make) {
  std::vector<std::string> parts;
  for (const auto& entry : fs::directory_iterator(path_)) parts.push_back(entry.path().string());
  std::sort(parts.begin(), parts.end());
  is_kept_ = !parts.empty();
  try {
    make(parts);
  } catch (const Failure& failure) {
    if (!is_kept_) throw;
    throw Failure(fmt::format("{}; the {}s of the single processes are in \"{}\"", failure.what(), what_, path_));
  }
  is_kept_ = false;
  return parts.size();
}

}  // namespace softdat::tools::run
