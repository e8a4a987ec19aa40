// SPDX-License-Identifier: BSD-2-Clause
// The calls that take any handle: dat_set/get_consumer_context, dat_get_handle_type.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/conformance/peer.h"

namespace softdat::conformance {
namespace {

class AnyHandle : public testing::Test {
 protected:
  void SetUp() override {
    require(client_.connect(server_, server_.listen()), "dat_ep_connect");
    DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
    handles_ = {{server_.next_request(), DAT_HANDLE_TYPE_CR},
                {server_.ep, DAT_HANDLE_TYPE_EP},
                {server_.recv_evd, DAT_HANDLE_TYPE_EVD},
                {server_.adapter.async_evd(), DAT_HANDLE_TYPE_EVD},
                {server_.adapter.handle(), DAT_HANDLE_TYPE_IA},
                {server_.memory->lmr(), DAT_HANDLE_TYPE_LMR},
                {server_.psp, DAT_HANDLE_TYPE_PSP},
                {server_.pz, DAT_HANDLE_TYPE_PZ},
                {server_.adapter.make_cno(), DAT_HANDLE_TYPE_CNO}};
    if (dat_rmr_create(server_.pz, &rmr) == DAT_SUCCESS) handles_.emplace_back(rmr, DAT_HANDLE_TYPE_RMR);
  }

  Peer server_{kServerName};
  Peer client_{kClientName};
  std::vector<std::pair<DAT_HANDLE, DAT_HANDLE_TYPE>> handles_;
};

TEST_F(AnyHandle, TypeIsThatOfTheObject) {
  for (const auto& [handle, expected] : handles_) {
    DAT_HANDLE_TYPE type = static_cast<DAT_HANDLE_TYPE>(-1);
    EXPECT_THAT(dat_get_handle_type(handle, &type), succeeds()) << expected;
    EXPECT_EQ(type, expected);
  }
}

TEST_F(AnyHandle, ContextIsNullAtFirstAndKeptPerObject) {
  std::uint64_t value = 0xfedcba9876543210u;
  for (const auto& [handle, type] : handles_) {
    DAT_CONTEXT context{};
    context.as_64 = 1;
    EXPECT_THAT(dat_get_consumer_context(handle, &context), succeeds()) << type;
    EXPECT_EQ(context.as_64, 0u) << type;
    context.as_64 = value++;
    EXPECT_THAT(dat_set_consumer_context(handle, context), succeeds()) << type;
  }
  value = 0xfedcba9876543210u;
  for (const auto& [handle, type] : handles_) {
    DAT_CONTEXT context{};
    EXPECT_THAT(dat_get_consumer_context(handle, &context), succeeds());
    EXPECT_EQ(context.as_64, value++) << type;
  }
}

TEST_F(AnyHandle, NullOutputsAreInvalid) {
  EXPECT_THAT(dat_get_consumer_context(server_.ep, nullptr), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  EXPECT_THAT(dat_get_handle_type(server_.ep, nullptr), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
}

TEST_F(AnyHandle, FreedHandleHasNeither) {
  const DAT_PZ_HANDLE pz = server_.adapter.make_pz();
  ASSERT_THAT(dat_pz_free(pz), succeeds());
  DAT_CONTEXT context{};
  DAT_HANDLE_TYPE type;
  EXPECT_THAT(dat_get_consumer_context(pz, &context), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1));
  EXPECT_THAT(dat_set_consumer_context(pz, context), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1));
  EXPECT_THAT(dat_get_handle_type(pz, &type), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1));
}

}  // namespace
}  // namespace softdat::conformance
