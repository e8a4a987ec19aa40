// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/refusal.h"

#include <gtest/gtest.h>

#include <new>
#include <string>

namespace softdat::object {
namespace {

TEST(Refusal, WithoutMemoryForItsReasonIsAnsweredAllTheSame) {
  const base::Call call("dat_evd_free evd_handle", nullptr);
  const Status status = invalid_state(StatusDetail::kInvalidStateEvdInUse);
  EXPECT_EQ(because(status, []() -> std::string { throw std::bad_alloc(); }), status);
  EXPECT_TRUE(call.reason().empty());
}

}  // namespace
}  // namespace softdat::object
