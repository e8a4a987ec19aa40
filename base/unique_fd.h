// SPDX-License-Identifier: BSD-2-Clause
// The one owner of a file descriptor.
#pragma once

#include <unistd.h>

#include <utility>

#include "base/uncancelled.h"

namespace softdat::base {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~UniqueFd() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1) {
    const int old = std::exchange(fd_, fd);
    if (old < 0) return;
    const Uncancelled guard;
    ::close(old);
  }

 private:
  int fd_ = -1;
};

}  // namespace softdat::base
