// SPDX-License-Identifier: BSD-2-Clause
// A descriptor that a child made by fork() does not keep: for what must end when its owner closes
// it, as the names that sockets listen at. (CLOEXEC sees to children that run another program.)
#pragma once

#include <utility>

#include "base/unique_fd.h"

namespace softdat::base {

// Any thread, one at a time. In the child it is closed before fork() returns, and the object there
// does nothing more. Numbers from 65536 on are kept by children all the same.
class PrivateFd {
 public:
  PrivateFd() = default;
  PrivateFd(UniqueFd fd);
  PrivateFd(PrivateFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  PrivateFd& operator=(PrivateFd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~PrivateFd() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void reset();

 private:
  int fd_ = -1;
};

}  // namespace softdat::base
