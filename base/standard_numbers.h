// SPDX-License-Identifier: BSD-2-Clause
// StandardNumbersTaken: while one lives, descriptors that another library opens get numbers from 3 on. (The library's
// own are UniqueFds, which see to that themselves.)
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>

#include "base/uncancelled.h"

namespace softdat::base {

// Occupies those of the descriptor numbers 0, 1 and 2 that are free, and closes them at its end. One thread at a time.
class StandardNumbersTaken {
 public:
  StandardNumbersTaken() {
    for (int& fd : taken_) {
      const int got = ::open("/dev/null", O_RDWR | O_CLOEXEC);
      if (got > STDERR_FILENO) ::close(got);
      if (got < 0 || got > STDERR_FILENO) return;
      fd = got;
    }
  }
  ~StandardNumbersTaken() {
    for (const int fd : taken_) {
      if (fd >= 0) ::close(fd);
    }
  }
  StandardNumbersTaken(const StandardNumbersTaken&) = delete;
  StandardNumbersTaken& operator=(const StandardNumbersTaken&) = delete;

 private:
  const Uncancelled guard_;
  std::array<int, 3> taken_ = {-1, -1, -1};
};

}  // namespace softdat::base
