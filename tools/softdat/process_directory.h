// SPDX-License-Identifier: BSD-2-Clause
// What /proc says of a process, whose number may go to another process meanwhile.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/types.h>

#include <string>

#include "base/unique_fd.h"

namespace softdat::tools {

// The directory of a process, held open: all that is read through path() is of that process. When it ends nothing more
// can be read there, even if another process has its number by then. One thread at a time.
class ProcessDirectory {
 public:
  explicit ProcessDirectory(pid_t pid)
      : directory_(::open(fmt::format("/proc/{}", pid).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}

  // False: there is no such process, or this one lacks a descriptor; errno says which.
  bool is_open() const { return static_cast<bool>(directory_); }
  // REQUIRES: is_open(). Of a file or directory in it; "" is itself.
  std::string path(const char* name) const { return fmt::format("/proc/self/fd/{}/{}", directory_.get(), name); }

 private:
  base::UniqueFd directory_;
};

}  // namespace softdat::tools
