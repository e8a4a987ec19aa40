// SPDX-License-Identifier: BSD-2-Clause
#include "base/clock.h"

#include <gtest/gtest.h>

namespace softdat::base {
namespace {

TEST(Clock, DeadlineIsNowPlusWait) {
  const Time now{std::chrono::seconds(5)};
  EXPECT_EQ(deadline_after(now, std::chrono::seconds(2)), Time(std::chrono::seconds(7)));
}

TEST(Clock, EndlessWaitNeverComesAndNeverWraps) {
  EXPECT_EQ(deadline_after(Clock::now(), Duration::max()), kNever);
  EXPECT_EQ(deadline_after(kNever, Duration(1)), kNever);
}

}  // namespace
}  // namespace softdat::base
