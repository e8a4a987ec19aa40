// SPDX-License-Identifier: BSD-2-Clause
// dat_cno_create, dat_cno_query, dat_cno_modify_agent, dat_cno_free; waiting is in cno_wait_test.cc.
#include <gtest/gtest.h>

#include <atomic>

#include "tests/conformance/peer.h"
#include "tests/conformance/waiter.h"

namespace softdat::conformance {
namespace {

void count_call(DAT_PVOID instance, DAT_EVD_HANDLE) {
  static_cast<std::atomic<int>*>(instance)->fetch_add(1);
}

class Cno : public testing::Test {
 protected:
  std::atomic<int> calls_{0};
  Adapter adapter_;
  DAT_CNO_HANDLE cno_ = adapter_.make_cno();
};

TEST_F(Cno, NewCnoHasNoNotification) {
  DAT_EVD_HANDLE evd = adapter_.async_evd();
  EXPECT_THAT(dat_cno_wait(cno_, 0, &evd), is_empty_queue());
  EXPECT_EQ(evd, DAT_HANDLE_NULL);
}

TEST_F(Cno, QueryTellsAdapterAndAgent) {
  DAT_CNO_PARAM param{};
  ASSERT_THAT(dat_cno_query(cno_, DAT_CNO_FIELD_ALL, &param), succeeds());
  EXPECT_EQ(param.ia_handle, adapter_.handle());
  EXPECT_EQ(agent_of(param).proxy_agent_func, nullptr);
  const DAT_CNO_HANDLE other = adapter_.make_cno({&calls_, count_call});
  ASSERT_THAT(dat_cno_query(other, DAT_CNO_FIELD_ALL, &param), succeeds());
  EXPECT_EQ(agent_of(param).proxy_agent_func, count_call);
  EXPECT_EQ(agent_of(param).instance_data, &calls_);
}

TEST_F(Cno, QueryRefusesUnknownBitsAndNull) {
  DAT_CNO_PARAM param{};
  EXPECT_THAT(dat_cno_query(cno_, static_cast<DAT_CNO_PARAM_MASK>(0x40), &param),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  EXPECT_THAT(dat_cno_query(cno_, DAT_CNO_FIELD_ALL, nullptr), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
}

TEST_F(Cno, CreateRefusesNull) {
  EXPECT_THAT(dat_cno_create(adapter_.handle(), {nullptr, nullptr}, nullptr),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
}

TEST_F(Cno, ModifiedAgentIsInvoked) {
  ASSERT_THAT(dat_cno_modify_agent(cno_, {&calls_, count_call}), succeeds());
  const DAT_EVD_HANDLE evd = adapter_.make_software_evd(8, cno_);
  post_software_event(evd, 1);
  EXPECT_TRUE(eventually([&] { return calls_.load() == 1; }));
}

TEST_F(Cno, RemovedAgentIsNotInvoked) {
  ASSERT_THAT(dat_cno_modify_agent(cno_, {&calls_, count_call}), succeeds());
  ASSERT_THAT(dat_cno_modify_agent(cno_, {nullptr, nullptr}), succeeds());
  const DAT_EVD_HANDLE evd = adapter_.make_software_evd(8, cno_);
  post_software_event(evd, 1);
  DAT_EVD_HANDLE triggered = DAT_HANDLE_NULL;
  EXPECT_THAT(dat_cno_wait(cno_, kPatience, &triggered), succeeds());
  EXPECT_EQ(calls_.load(), 0);
}

// The agent gets the trigger in addition to who waits in the process.
TEST_F(Cno, WaiterIsNotifiedBesideTheAgent) {
  ASSERT_THAT(dat_cno_modify_agent(cno_, {&calls_, count_call}), succeeds());
  const DAT_EVD_HANDLE evd = adapter_.make_software_evd(8, cno_);
  post_software_event(evd, 1);
  DAT_EVD_HANDLE triggered = DAT_HANDLE_NULL;
  EXPECT_THAT(dat_cno_wait(cno_, kPatience, &triggered), succeeds());
  EXPECT_EQ(triggered, evd);
  EXPECT_TRUE(eventually([&] { return calls_.load() == 1; }));
}

TEST_F(Cno, CnoOfADispatcherCannotBeFreed) {
  const DAT_EVD_HANDLE evd = adapter_.make_software_evd(8, cno_);
  EXPECT_THAT(dat_cno_free(cno_), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_CNO_IN_USE));
  ASSERT_THAT(dat_evd_free(evd), succeeds());
  EXPECT_THAT(dat_cno_free(cno_), succeeds());
}

TEST_F(Cno, CnoWithAWaiterCannotBeFreed) {
  const DAT_EVD_HANDLE evd = adapter_.make_software_evd(8);
  CnoWaiter waiter(cno_);
  waiter.await_blocked();
  EXPECT_THAT(dat_cno_free(cno_), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_CNO_IN_USE));
  ASSERT_THAT(dat_evd_modify_cno(evd, cno_), succeeds());
  post_software_event(evd, 1);
  EXPECT_THAT(waiter.join(), succeeds());
}

TEST_F(Cno, FreedCnoIsInvalid) {
  EXPECT_THAT(dat_cno_free(cno_), succeeds());
  EXPECT_THAT(dat_cno_free(cno_), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO));
  EXPECT_THAT(dat_cno_modify_agent(cno_, {nullptr, nullptr}), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO));
}

}  // namespace
}  // namespace softdat::conformance
