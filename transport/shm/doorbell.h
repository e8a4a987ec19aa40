// SPDX-License-Identifier: BSD-2-Clause
// What wakes a sleeping carrier: an eventfd that it owns and its peers hold copies of.
#pragma once

#include <utility>

#include "base/unique_fd.h"

namespace softdat::transport::shm {

class Doorbell {
 public:
  // Our own. Empty when the system has no descriptors left.
  static Doorbell create();
  // A peer's copy, as received; empty when it is no bell, but something that could block us.
  static Doorbell adopt(base::UniqueFd fd);
  Doorbell() = default;

  explicit operator bool() const { return static_cast<bool>(fd_); }
  int get() const { return fd_.get(); }

  // Never blocks; a bell that is ringing already goes on ringing.
  void ring() const;
  // Owner only: silent until the next ring().
  void silence() const;

 private:
  explicit Doorbell(base::UniqueFd fd) : fd_(std::move(fd)) {}

  base::UniqueFd fd_;
};

}  // namespace softdat::transport::shm
