// SPDX-License-Identifier: BSD-2-Clause
#include "base/fault_plan_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/unique_fd.h"

namespace softdat::base {

Result<std::string, std::string> read_plan_file(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return Failure{std::string(std::strerror(errno))};
  std::string text;
  char chunk[16384];
  while (true) {
    // The file may be a pipe or under /proc, so its size says nothing: read until the end, and limit the sum.
    const ssize_t got = ::read(file.get(), chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Failure{std::string(std::strerror(errno))};
    if (got == 0) return text;
    text.append(chunk, static_cast<std::size_t>(got));
    if (text.size() > kMostPlanBytes) {
      return Failure{"it has more than " + std::to_string(kMostPlanBytes >> 20) + " MiB, which no plan has"};
    }
  }
}

}  // namespace softdat::base
