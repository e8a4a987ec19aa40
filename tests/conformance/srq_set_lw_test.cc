// SPDX-License-Identifier: BSD-2-Clause
// dat_srq_set_lw: every sentence of its page.
#include <gtest/gtest.h>

#include "tests/conformance/lacks.h"
#include "tests/conformance/shared_server.h"

namespace softdat::conformance {
namespace {

// A server with a queue of eight and two connected clients.
class SrqSetLw : public testing::Test {
 protected:
  SrqSetLw() {
    server_.connect_client();
    server_.connect_client();
  }

  // One more event, told at once, and none before it: all that was told was told before.
  void expect_nothing_was_told() {
    ASSERT_TRUE(is_quiet(server_.peer.adapter.async_evd()));
    ASSERT_THAT(dat_srq_set_lw(server_.srq, 8), succeeds());
    server_.next_low_event();
    EXPECT_TRUE(is_quiet(server_.peer.adapter.async_evd()));
  }

  SharedServer server_;
};

TEST_F(SrqSetLw, SetsTheWatermark) {
  server_.post_many(8);
  for (const DAT_COUNT watermark : {5, 1, 8, 0}) {
    ASSERT_THAT(dat_srq_set_lw(server_.srq, watermark), succeeds());
    EXPECT_EQ(server_.query().low_watermark, watermark);
  }
}

TEST_F(SrqSetLw, TellsTheAsynchronousDispatcherWhenTheNumberFallsBelow) {
  server_.post_many(4);
  ASSERT_THAT(dat_srq_set_lw(server_.srq, 3), succeeds());
  server_.take(0);
  ASSERT_TRUE(is_quiet(server_.peer.adapter.async_evd()));  // three are not below three
  server_.take(0);
  const auto event = server_.next_low_event();
  DAT_HANDLE_TYPE type{};
  ASSERT_THAT(dat_get_handle_type(event.dat_handle, &type), succeeds());
  EXPECT_EQ(type, DAT_HANDLE_TYPE_SRQ);
}

TEST_F(SrqSetLw, EqualIsNotBelow) {
  server_.post_many(4);
  ASSERT_THAT(dat_srq_set_lw(server_.srq, 4), succeeds());
  expect_nothing_was_told();
}

TEST_F(SrqSetLw, MayTellDuringTheCall) {
  server_.post_many(2);
  ASSERT_THAT(dat_srq_set_lw(server_.srq, 3), succeeds());
  server_.next_low_event();
  EXPECT_TRUE(is_quiet(server_.peer.adapter.async_evd()));
}

TEST_F(SrqSetLw, CountsWhatAnyEndpointTakes) {
  server_.post_many(4);
  ASSERT_THAT(dat_srq_set_lw(server_.srq, 3), succeeds());
  EXPECT_EQ(server_.take(0).ep_handle, server_.endpoints[0]);
  EXPECT_EQ(server_.take(1).ep_handle, server_.endpoints[1]);
  server_.next_low_event();
}

// Taken is taken: that the consumer has not reaped the completion makes no difference.
TEST_F(SrqSetLw, CountsABufferAsTakenBeforeItsCompletionIsReaped) {
  server_.post_many(2);
  ASSERT_THAT(dat_srq_set_lw(server_.srq, 2), succeeds());
  server_.send(0);
  server_.next_low_event();
  EXPECT_EQ(server_.query().available_dto_count, 1);
  EXPECT_EQ(server_.query().outstanding_dto_count, 2);
}

TEST_F(SrqSetLw, TellsOncePerSetting) {
  server_.post_many(4);
  ASSERT_THAT(dat_srq_set_lw(server_.srq, 4), succeeds());
  for (int i = 0; i < 4; ++i) server_.take(0);
  server_.next_low_event();
  expect_nothing_was_told();
}

TEST_F(SrqSetLw, StaysSilentThoughTheQueueIsFilledAndDrainedAgain) {
  server_.post_many(2);
  ASSERT_THAT(dat_srq_set_lw(server_.srq, 2), succeeds());
  server_.take(0);
  server_.next_low_event();
  for (int round = 0; round < 3; ++round) {
    server_.post_many(2);
    server_.take(0);
    server_.take(1);
  }
  expect_nothing_was_told();
}

TEST_F(SrqSetLw, SettingItAgainTellsAgain) {
  server_.post_many(2);
  for (int round = 0; round < 3; ++round) {
    ASSERT_THAT(dat_srq_set_lw(server_.srq, 2), succeeds());
    server_.take(0);
    server_.next_low_event();
    server_.post_many(1);
  }
  EXPECT_TRUE(is_quiet(server_.peer.adapter.async_evd()));
}

TEST_F(SrqSetLw, SettingItBelowTheNumberAgainAndAgainTellsEachTime) {
  for (int round = 0; round < 3; ++round) {
    ASSERT_THAT(dat_srq_set_lw(server_.srq, 1), succeeds());
    server_.next_low_event();
  }
  EXPECT_TRUE(is_quiet(server_.peer.adapter.async_evd()));
}

TEST_F(SrqSetLw, TheNewWatermarkReplacesTheOld) {
  server_.post_many(4);
  ASSERT_THAT(dat_srq_set_lw(server_.srq, 4), succeeds());
  ASSERT_THAT(dat_srq_set_lw(server_.srq, 2), succeeds());
  server_.take(0);
  server_.take(0);
  ASSERT_TRUE(is_quiet(server_.peer.adapter.async_evd()));
  server_.take(0);
  server_.next_low_event();
}

TEST_F(SrqSetLw, TheDefaultAsksForNothing) {
  EXPECT_EQ(server_.query().low_watermark, DAT_SRQ_LW_DEFAULT);
  server_.post_many(2);
  ASSERT_THAT(dat_srq_set_lw(server_.srq, 2), succeeds());
  ASSERT_THAT(dat_srq_set_lw(server_.srq, DAT_SRQ_LW_DEFAULT), succeeds());
  server_.take(0);
  server_.take(0);
  expect_nothing_was_told();
}

// What the page proposes to do upon the event.
TEST_F(SrqSetLw, TheConsumerMayReplenishTheQueueUponTheEvent) {
  server_.post_many(4);
  int received = 0;
  for (int round = 0; round < 5; ++round) {
    ASSERT_THAT(dat_srq_set_lw(server_.srq, 2), succeeds());
    while (server_.query().available_dto_count >= 2) server_.take(received++ % 2 == 0 ? 0 : 1);
    server_.next_low_event();
    server_.post_many(4 - server_.query().available_dto_count);
  }
  EXPECT_GE(received, 15);
}

TEST_F(SrqSetLw, AboveMaxRecvDtosIsInvalidAndChangesNothing) {
  server_.post_many(3);
  ASSERT_THAT(dat_srq_set_lw(server_.srq, 3), succeeds());
  EXPECT_THAT(dat_srq_set_lw(server_.srq, 9), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  EXPECT_THAT(dat_srq_set_lw(server_.srq, 0x7fffffff), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  EXPECT_THAT(dat_srq_set_lw(server_.srq, -1), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  EXPECT_EQ(server_.query().low_watermark, 3);
  ASSERT_TRUE(is_quiet(server_.peer.adapter.async_evd()));
  server_.take(0);  // the old one is still armed
  server_.next_low_event();
}

TEST_F(SrqSetLw, TheLimitMovesWithTheSize) {
  if (const Lack lack = lack_of_shared_resizing(); !lack.empty()) GTEST_SKIP() << lack;
  EXPECT_THAT(dat_srq_set_lw(server_.srq, 9), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  ASSERT_THAT(dat_srq_resize(server_.srq, 9), succeeds());
  EXPECT_THAT(dat_srq_set_lw(server_.srq, 9), succeeds());
  server_.next_low_event();
}

TEST_F(SrqSetLw, FreedQueueIsAnInvalidHandle) {
  SharedServer other;
  ASSERT_THAT(dat_srq_free(other.srq), succeeds());
  EXPECT_THAT(dat_srq_set_lw(other.srq, 1), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ));
  EXPECT_THAT(dat_srq_set_lw(server_.peer.pz, 1), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ));
}

TEST_F(SrqSetLw, TheProviderSaysThatItHasWatermarks) {
  DAT_PROVIDER_ATTR provider{};
  require(dat_ia_query(server_.peer.adapter.handle(), nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &provider),
          "dat_ia_query");
  EXPECT_EQ(provider.srq_supported, DAT_TRUE);
  EXPECT_GT(provider.srq_watermarks_supported, 0);
}

}  // namespace
}  // namespace softdat::conformance
