// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace softdat {

// Limits a resource of this process (getrlimit(2)) as long as it lives.
class ScarceLimit {
 public:
  ScarceLimit(__rlimit_resource resource, rlim_t limit) : resource_(resource) {
    EXPECT_EQ(::getrlimit(resource_, &before_), 0);
    const struct rlimit scarce = {.rlim_cur = limit, .rlim_max = before_.rlim_max};
    EXPECT_EQ(::setrlimit(resource_, &scarce), 0);
  }
  ~ScarceLimit() { EXPECT_EQ(::setrlimit(resource_, &before_), 0); }
  ScarceLimit(const ScarceLimit&) = delete;
  ScarceLimit& operator=(const ScarceLimit&) = delete;

 private:
  const __rlimit_resource resource_;
  struct rlimit before_ {};
};

}  // namespace softdat
