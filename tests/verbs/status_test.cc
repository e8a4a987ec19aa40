// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/status.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace softdat::verbs {
namespace {

TEST(StatusTest, OnlySuccessIsSuccess) {
  for (int code = 0; code <= IBV_WC_TM_RNDV_INCOMPLETE; ++code) {
    const auto status = status_of(static_cast<ibv_wc_status>(code));
    EXPECT_EQ(status == hca::CompletionStatus::kSuccess, code == IBV_WC_SUCCESS) << code;
    EXPECT_EQ(status == hca::CompletionStatus::kFlushed, code == IBV_WC_WR_FLUSH_ERR) << code;
  }
}

TEST(StatusTest, CreationFailuresKeepTheirCause) {
  EXPECT_EQ(error_of(ENOMEM), hca::Error::kNoMemory);
  EXPECT_EQ(error_of(EINVAL), hca::Error::kLimitReached);
  EXPECT_EQ(error_of(EADDRINUSE), hca::Error::kAddressInUse);
  EXPECT_EQ(error_of(EOPNOTSUPP), hca::Error::kUnsupported);
}

}  // namespace
}  // namespace softdat::verbs
