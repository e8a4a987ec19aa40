// SPDX-License-Identifier: BSD-2-Clause
// Which completions wake a waiter: notification suppression and solicited waits (dat_evd_wait,
// dat_ep_create).
#include <gtest/gtest.h>

#include "tests/conformance/peer.h"
#include "tests/conformance/waiter.h"

namespace softdat::conformance {
namespace {

PeerOptions with_recv_flags(DAT_COMPLETION_FLAGS flags) {
  PeerOptions options;
  options.attributes = default_attributes();
  options.attributes->recv_completion_flags = flags;
  return options;
}

PeerOptions with_request_flags(DAT_COMPLETION_FLAGS flags) {
  PeerOptions options;
  options.attributes = default_attributes();
  options.attributes->request_completion_flags = flags;
  return options;
}

TEST(EvdWaitNotification, ThresholdMustBeOneWithSolicitedWait) {
  Peer peer(kServerName, with_recv_flags(DAT_COMPLETION_SOLICITED_WAIT_FLAG));
  DAT_EVENT event;
  DAT_COUNT more;
  EXPECT_THAT(dat_evd_wait(peer.recv_evd, 0, 2, &event, &more), fails_with(DAT_INVALID_STATE));
  EXPECT_THAT(dat_evd_wait(peer.recv_evd, 0, 1, &event, &more), fails_with(DAT_TIMEOUT_EXPIRED));
}

TEST(EvdWaitNotification, ThresholdMustBeOneWithUnsignalledReceives) {
  Peer peer(kServerName, with_recv_flags(DAT_COMPLETION_UNSIGNALLED_FLAG));
  DAT_EVENT event;
  DAT_COUNT more;
  EXPECT_THAT(dat_evd_wait(peer.recv_evd, 0, 2, &event, &more), fails_with(DAT_INVALID_STATE));
  EXPECT_THAT(dat_evd_wait(peer.request_evd, 0, 2, &event, &more), fails_with(DAT_TIMEOUT_EXPIRED));
}

TEST(EvdWaitNotification, ThresholdMustBeOneWithUnsignalledRequests) {
  Peer peer(kServerName, with_request_flags(DAT_COMPLETION_UNSIGNALLED_FLAG));
  DAT_EVENT event;
  DAT_COUNT more;
  EXPECT_THAT(dat_evd_wait(peer.request_evd, 0, 2, &event, &more), fails_with(DAT_INVALID_STATE));
  EXPECT_THAT(dat_evd_wait(peer.recv_evd, 0, 2, &event, &more), fails_with(DAT_TIMEOUT_EXPIRED));
}

// The rule goes with the endpoint that brought it.
TEST(EvdWaitNotification, ThresholdIsFreeAgainWhenTheEndpointIsGone) {
  Peer peer(kServerName, with_request_flags(DAT_COMPLETION_UNSIGNALLED_FLAG));
  ASSERT_THAT(dat_ep_free(peer.ep), succeeds());
  DAT_EVENT event;
  DAT_COUNT more;
  EXPECT_THAT(dat_evd_wait(peer.request_evd, 0, 2, &event, &more), fails_with(DAT_TIMEOUT_EXPIRED));
}

// The first message asks for no attention and stays queued; the second wakes the waiter, who then
// gets the first.
TEST(EvdWaitNotification, OnlyASolicitedMessageWakesASolicitedWaiter) {
  ConnectedPair pair(with_recv_flags(DAT_COMPLETION_SOLICITED_WAIT_FLAG), {});
  ASSERT_THAT(pair.server.post_recv(0, 64, 1), succeeds());
  ASSERT_THAT(pair.server.post_recv(64, 64, 2), succeeds());
  EvdWaiter waiter(pair.server.recv_evd);
  waiter.await_blocked();
  ASSERT_THAT(pair.client.post_send(0, 64, 1), succeeds());
  next_completion(pair.client.request_evd);
  ASSERT_THAT(pair.client.post_send(0, 64, 2, DAT_COMPLETION_SOLICITED_WAIT_FLAG), succeeds());
  ASSERT_THAT(waiter.join(), succeeds());
  EXPECT_EQ(waiter.event().event_data.dto_completion_event_data.user_cookie.as_64, 1u);
  EXPECT_EQ(waiter.more(), 1);
  EXPECT_EQ(next_completion(pair.server.recv_evd).user_cookie.as_64, 2u);
}

// An unsolicited completion is nevertheless there for those who look.
TEST(EvdWaitNotification, UnsolicitedCompletionCanBeDequeued) {
  ConnectedPair pair(with_recv_flags(DAT_COMPLETION_SOLICITED_WAIT_FLAG), {});
  ASSERT_THAT(pair.server.post_recv(0, 64, 1), succeeds());
  ASSERT_THAT(pair.client.post_send(0, 64, 1), succeeds());
  EXPECT_TRUE(eventually([&] { return take_event(pair.server.recv_evd).has_value(); }));
}

TEST(EvdWaitNotification, UnsignalledRequestWakesNobody) {
  ConnectedPair pair({}, with_request_flags(DAT_COMPLETION_UNSIGNALLED_FLAG));
  ASSERT_THAT(pair.server.post_recv(0, 64), succeeds());
  ASSERT_THAT(pair.server.post_recv(0, 64), succeeds());
  EvdWaiter waiter(pair.client.request_evd);
  waiter.await_blocked();
  ASSERT_THAT(pair.client.post_send(0, 64, 1, DAT_COMPLETION_UNSIGNALLED_FLAG), succeeds());
  next_completion(pair.server.recv_evd);
  ASSERT_THAT(pair.client.post_send(0, 64, 2), succeeds());
  ASSERT_THAT(waiter.join(), succeeds());
  EXPECT_EQ(waiter.event().event_data.dto_completion_event_data.user_cookie.as_64, 1u);
  EXPECT_EQ(waiter.more(), 1);
}

TEST(EvdWaitNotification, UnsignalledReceiveWakesNobody) {
  ConnectedPair pair(with_recv_flags(DAT_COMPLETION_UNSIGNALLED_FLAG), {});
  ASSERT_THAT(pair.server.post_recv(0, 64, 1, DAT_COMPLETION_UNSIGNALLED_FLAG), succeeds());
  ASSERT_THAT(pair.server.post_recv(64, 64, 2), succeeds());
  EvdWaiter waiter(pair.server.recv_evd);
  waiter.await_blocked();
  ASSERT_THAT(pair.client.post_send(0, 64), succeeds());
  ASSERT_THAT(pair.client.post_send(0, 64), succeeds());
  ASSERT_THAT(waiter.join(), succeeds());
  EXPECT_EQ(waiter.event().event_data.dto_completion_event_data.user_cookie.as_64, 1u);
  EXPECT_EQ(waiter.more(), 1);
}

TEST(EvdWaitNotification, UnsignalledFlagNeedsAnEndpointThatAllowsIt) {
  ConnectedPair pair;
  EXPECT_THAT(pair.client.post_send(0, 64, 1, DAT_COMPLETION_UNSIGNALLED_FLAG), fails_with(DAT_INVALID_PARAMETER));
  EXPECT_THAT(pair.client.post_recv(0, 64, 1, DAT_COMPLETION_UNSIGNALLED_FLAG), fails_with(DAT_INVALID_PARAMETER));
  const DAT_RMR_TRIPLET target = pair.server.memory->remote(0, 64);
  EXPECT_THAT(pair.client.post_write(0, 64, target, 1, DAT_COMPLETION_UNSIGNALLED_FLAG),
              fails_with(DAT_INVALID_PARAMETER));
  EXPECT_THAT(pair.client.post_read(0, 64, target, 1, DAT_COMPLETION_UNSIGNALLED_FLAG),
              fails_with(DAT_INVALID_PARAMETER));
  expect_conversation(pair.server, pair.client);
}

// A suppressed success wakes nobody anyway, so existing programs ask for both on endpoints of any kind.
TEST(EvdWaitNotification, UnsignalledBesideSuppressedNeedsNoEndpointThatAllowsIt) {
  ConnectedPair pair;
  const int both = DAT_COMPLETION_UNSIGNALLED_FLAG | DAT_COMPLETION_SUPPRESS_FLAG;
  ASSERT_THAT(pair.server.post_recv(0, 64), succeeds());
  EXPECT_THAT(pair.client.post_send(0, 64, 1, both), succeeds());
  EXPECT_EQ(next_completion(pair.server.recv_evd).status, DAT_DTO_SUCCESS);
  EXPECT_THAT(pair.client.post_write(0, 64, pair.server.memory->remote(0, 64), 2, both), succeeds());
  expect_conversation(pair.server, pair.client);
}

}  // namespace
}  // namespace softdat::conformance
