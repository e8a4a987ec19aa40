// SPDX-License-Identifier: BSD-2-Clause
// Waits that a fault plan ends answer as those that end by themselves.
#include <gtest/gtest.h>

#include <cstdlib>

#include "libdat/api/return_code.h"
#include "tests/libdat/api/provider_fixture.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

constexpr DAT_TIMEOUT kLong = 240'000'000;
constexpr DAT_RETURN kGood = DAT_SUCCESS;

DAT_RETURN type_of(DAT_RETURN answer) {
  return DAT_GET_TYPE(answer);
}

class FaultyWaits : public ::testing::Test {
 protected:
  // An IA of its own, since an adapter reads the plan when it is opened, and a table when it is registered.
  void open(const char* plan) {
    ::setenv("SOFTDAT_FAULTS", plan, 1);
    table_ = provider_of("sim7");
    ASSERT_NE(table_, nullptr);
    char name[] = "sim7";
    DAT_EVD_HANDLE async = nullptr;
    ASSERT_EQ(table_->ia_open_func(name, 8, &async, &ia_), kGood);
    ASSERT_EQ(table_->cno_create_func(ia_, {nullptr, nullptr}, &cno_), kGood);
    ASSERT_EQ(table_->evd_create_func(ia_, 8, cno_, DAT_EVD_SOFTWARE_FLAG, &evd_), kGood);
  }
  void TearDown() override {
    ::unsetenv("SOFTDAT_FAULTS");
    if (ia_ == nullptr) return;
    EXPECT_EQ(table_->ia_close_func(ia_, DAT_CLOSE_ABRUPT_FLAG), kGood);
  }
  void post() {
    DAT_EVENT event{};
    event.event_number = DAT_SOFTWARE_EVENT;
    ASSERT_EQ(table_->evd_post_se_func(evd_, &event), kGood);
  }

  const DAT_PROVIDER* table_ = nullptr;
  DAT_IA_HANDLE ia_ = nullptr;
  DAT_CNO_HANDLE cno_ = nullptr;
  DAT_EVD_HANDLE evd_ = nullptr;
  DAT_EVENT event_{};
  DAT_COUNT more_ = -1;
};

TEST_F(FaultyWaits, TellHowManyEventsThereAre) {
  open("fail-wait number=1 reason=timeout; fail-wait number=2");
  post();
  post();
  EXPECT_EQ(type_of(table_->evd_wait_func(evd_, kLong, 3, &event_, &more_)), DAT_TIMEOUT_EXPIRED);
  EXPECT_EQ(more_, 2);
  more_ = -1;
  EXPECT_EQ(type_of(table_->evd_wait_func(evd_, kLong, 3, &event_, &more_)), DAT_INTERRUPTED_CALL);
  EXPECT_EQ(more_, 2);
  EXPECT_EQ(table_->evd_wait_func(evd_, kLong, 1, &event_, &more_), kGood);
}

TEST_F(FaultyWaits, RefuseWrongArgumentsAsOthersDo) {
  open("fail-wait");
  const auto type = [&](DAT_COUNT threshold, DAT_EVENT* event, DAT_COUNT* more) {
    return type_of(table_->evd_wait_func(evd_, kLong, threshold, event, more));
  };
  EXPECT_EQ(type(0, &event_, &more_), DAT_INVALID_PARAMETER);
  EXPECT_EQ(type(1000, &event_, &more_), DAT_INVALID_PARAMETER);
  EXPECT_EQ(type(1, nullptr, &more_), DAT_INVALID_PARAMETER);
  EXPECT_EQ(type(1, &event_, nullptr), DAT_INVALID_PARAMETER);
  EXPECT_EQ(type_of(table_->cno_wait_func(cno_, kLong, nullptr)), DAT_INVALID_PARAMETER);
  ASSERT_EQ(table_->evd_set_unwaitable_func(evd_), kGood);
  EXPECT_EQ(type(1, &event_, &more_), DAT_INVALID_STATE);
}

TEST_F(FaultyWaits, OfACnoEndAsItsTimeOutDoes) {
  open("fail-wait number=1 reason=timeout; fail-wait number=2");
  DAT_EVD_HANDLE evd = evd_;
  EXPECT_EQ(table_->cno_wait_func(cno_, kLong, &evd), static_cast<DAT_RETURN>(DAT_QUEUE_EMPTY));
  EXPECT_EQ(evd, static_cast<DAT_EVD_HANDLE>(DAT_HANDLE_NULL));
  EXPECT_EQ(type_of(table_->cno_wait_func(cno_, kLong, &evd)), DAT_INTERRUPTED_CALL);
}

}  // namespace
}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
