// SPDX-License-Identifier: BSD-2-Clause
// dat_ep_disconnect and dat_ep_reset: how connections end and endpoints begin anew.
#include <gtest/gtest.h>

#include "tests/conformance/lacks.h"
#include "tests/conformance/peer.h"

namespace softdat::conformance {
namespace {

void expect_disconnected_once(Peer& peer) {
  const DAT_EVENT event = next_event(peer.connect_evd);
  EXPECT_EQ(event.event_number, DAT_CONNECTION_EVENT_DISCONNECTED);
  EXPECT_EQ(event.event_data.connect_event_data.ep_handle, peer.ep);
  EXPECT_EQ(peer.state(), DAT_EP_STATE_DISCONNECTED);
  EXPECT_TRUE(is_quiet(peer.connect_evd));
}

class Disconnect : public testing::TestWithParam<DAT_CLOSE_FLAGS> {};

TEST_P(Disconnect, BothSidesHearItExactlyOnce) {
  ConnectedPair pair;
  ASSERT_THAT(dat_ep_disconnect(pair.client.ep, GetParam()), succeeds());
  expect_disconnected_once(pair.client);
  expect_disconnected_once(pair.server);
}

TEST_P(Disconnect, SecondDisconnectIsASuccessfulNoOperation) {
  ConnectedPair pair;
  ASSERT_THAT(dat_ep_disconnect(pair.client.ep, GetParam()), succeeds());
  expect_disconnected_once(pair.client);
  EXPECT_THAT(dat_ep_disconnect(pair.client.ep, GetParam()), succeeds());
  expect_disconnected_once(pair.server);
  EXPECT_THAT(dat_ep_disconnect(pair.server.ep, GetParam()), succeeds());
  EXPECT_TRUE(is_quiet(pair.client.connect_evd));
  EXPECT_TRUE(is_quiet(pair.server.connect_evd));
}

TEST_P(Disconnect, BothSidesAtOnceHearItOnceEach) {
  ConnectedPair pair;
  ASSERT_THAT(dat_ep_disconnect(pair.client.ep, GetParam()), succeeds());
  ASSERT_THAT(dat_ep_disconnect(pair.server.ep, GetParam()), succeeds());
  expect_disconnected_once(pair.client);
  expect_disconnected_once(pair.server);
}

TEST_P(Disconnect, UnconnectedEndpointRefuses) {
  Peer peer(kServerName);
  EXPECT_THAT(dat_ep_disconnect(peer.ep, GetParam()), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_UNCONNECTED));
}

// Giving up while the peer has not answered: disconnected, receives flushed.
TEST_P(Disconnect, EndsAConnectionAttempt) {
  Peer server(kServerName);
  Peer client(kClientName);
  ASSERT_THAT(client.post_recv(0, 64, 6), succeeds());
  ASSERT_THAT(client.connect(server, server.listen()), succeeds());
  server.next_request();
  ASSERT_THAT(dat_ep_disconnect(client.ep, GetParam()), succeeds());
  expect_disconnected_once(client);
  const auto completion = next_completion(client.recv_evd);
  EXPECT_EQ(completion.status, DAT_DTO_ERR_FLUSHED);
  EXPECT_EQ(completion.user_cookie.as_64, 6u);
}

TEST_P(Disconnect, ReceivesOfBothSidesAreFlushedInOrder) {
  ConnectedPair pair;
  for (std::uint64_t cookie = 1; cookie <= 5; ++cookie) {
    ASSERT_THAT(pair.client.post_recv(0, 64, cookie), succeeds());
    ASSERT_THAT(pair.server.post_recv(0, 64, cookie), succeeds());
  }
  ASSERT_THAT(dat_ep_disconnect(pair.client.ep, GetParam()), succeeds());
  for (Peer* peer : {&pair.client, &pair.server}) {
    for (std::uint64_t cookie = 1; cookie <= 5; ++cookie) {
      const auto completion = next_completion(peer->recv_evd);
      EXPECT_EQ(completion.status, DAT_DTO_ERR_FLUSHED);
      EXPECT_EQ(completion.user_cookie.as_64, cookie);
      EXPECT_EQ(completion.ep_handle, peer->ep);
    }
  }
}

TEST_P(Disconnect, EndpointCanBeUsedAgainAfterReset) {
  ConnectedPair pair;
  for (int round = 0; round < 3; ++round) {
    expect_conversation(pair.server, pair.client);
    ASSERT_THAT(dat_ep_disconnect(pair.client.ep, GetParam()), succeeds());
    expect_disconnected_once(pair.client);
    expect_disconnected_once(pair.server);
    ASSERT_THAT(dat_ep_reset(pair.client.ep), succeeds());
    ASSERT_THAT(dat_ep_reset(pair.server.ep), succeeds());
    establish(pair.server, pair.client);
  }
}

INSTANTIATE_TEST_SUITE_P(Both, Disconnect, testing::Values(DAT_CLOSE_ABRUPT_FLAG, DAT_CLOSE_GRACEFUL_FLAG),
                         [](const auto& name) { return name.param == DAT_CLOSE_ABRUPT_FLAG ? "Abrupt" : "Graceful"; });

TEST(DisconnectFlags, UnknownFlagIsInvalidAndChangesNothing) {
  ConnectedPair pair;
  EXPECT_THAT(dat_ep_disconnect(pair.client.ep, static_cast<DAT_CLOSE_FLAGS>(2)),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  expect_conversation(pair.server, pair.client);
}

TEST(GracefulDisconnect, CompletesWhatWasPosted) {
  ConnectedPair pair;
  constexpr std::uint64_t kCount = 20;
  for (std::uint64_t cookie = 1; cookie <= kCount; ++cookie)
    ASSERT_THAT(pair.server.post_recv(0, 1024, cookie), succeeds());
  for (std::uint64_t cookie = 1; cookie <= kCount; ++cookie)
    ASSERT_THAT(pair.client.post_send(0, 1024, cookie), succeeds());
  ASSERT_THAT(dat_ep_disconnect(pair.client.ep, DAT_CLOSE_GRACEFUL_FLAG), succeeds());
  for (std::uint64_t cookie = 1; cookie <= kCount; ++cookie) {
    const auto sent = next_completion(pair.client.request_evd);
    EXPECT_EQ(sent.status, DAT_DTO_SUCCESS);
    EXPECT_EQ(sent.user_cookie.as_64, cookie);
    EXPECT_EQ(next_completion(pair.server.recv_evd).status, DAT_DTO_SUCCESS);
  }
  expect_disconnected_once(pair.client);
  expect_disconnected_once(pair.server);
}

// While it drains, nothing new is taken; a second graceful call changes nothing, an abrupt one ends
// it at once.
TEST(GracefulDisconnect, PendingDisconnectTakesNothingNewAndYieldsToAbrupt) {
  if (const Lack lack = lack_of_waiting_sends(); !lack.empty()) GTEST_SKIP() << lack;
  ConnectedPair pair;
  ASSERT_THAT(pair.client.post_send(0, 64, 1), succeeds());
  ASSERT_THAT(dat_ep_disconnect(pair.client.ep, DAT_CLOSE_GRACEFUL_FLAG), succeeds());
  ASSERT_EQ(pair.client.state(), DAT_EP_STATE_DISCONNECT_PENDING);
  EXPECT_THAT(pair.client.post_send(0, 64, 2), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_DISCPENDING));
  EXPECT_THAT(pair.client.post_write(0, 64, pair.server.memory->remote(0, 64), 3),
              fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_DISCPENDING));
  EXPECT_THAT(dat_ep_disconnect(pair.client.ep, DAT_CLOSE_GRACEFUL_FLAG), succeeds());
  EXPECT_EQ(pair.client.state(), DAT_EP_STATE_DISCONNECT_PENDING);
  EXPECT_THAT(dat_ep_reset(pair.client.ep), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_DISCPENDING));
  EXPECT_THAT(dat_ep_disconnect(pair.client.ep, DAT_CLOSE_ABRUPT_FLAG), succeeds());
  expect_disconnected_once(pair.client);
  const auto completion = next_completion(pair.client.request_evd);
  EXPECT_EQ(completion.status, DAT_DTO_ERR_FLUSHED);
  EXPECT_EQ(completion.user_cookie.as_64, 1u);
}

TEST(AbruptDisconnect, FlushesRequestsInOrderAfterWhatSucceeded) {
  if (const Lack lack = lack_of_waiting_sends(); !lack.empty()) GTEST_SKIP() << lack;
  ConnectedPair pair;
  ASSERT_THAT(pair.server.post_recv(0, 64), succeeds());
  for (std::uint64_t cookie = 1; cookie <= 6; ++cookie) ASSERT_THAT(pair.client.post_send(0, 64, cookie), succeeds());
  ASSERT_THAT(dat_ep_disconnect(pair.client.ep, DAT_CLOSE_ABRUPT_FLAG), succeeds());
  bool failed = false;
  for (std::uint64_t cookie = 1; cookie <= 6; ++cookie) {
    const auto completion = next_completion(pair.client.request_evd);
    EXPECT_EQ(completion.user_cookie.as_64, cookie);
    if (failed) {
      EXPECT_EQ(completion.status, DAT_DTO_ERR_FLUSHED) << cookie;
    }
    failed = failed || completion.status != DAT_DTO_SUCCESS;
  }
  EXPECT_TRUE(failed);
}

// On one dispatcher the successful completions stand before the disconnect.
TEST(AbruptDisconnect, SuccessfulCompletionsPrecedeTheDisconnectEvent) {
  PeerOptions merged;
  merged.one_dispatcher = true;
  ConnectedPair pair(merged);
  ASSERT_THAT(pair.server.post_recv(0, 64, 1), succeeds());
  ASSERT_THAT(pair.client.post_send(0, 64, 2), succeeds());
  ASSERT_TRUE(eventually([&] {
    DAT_BOOLEAN idle = DAT_FALSE;
    require(dat_ep_get_status(pair.client.ep, nullptr, nullptr, &idle), "dat_ep_get_status");
    return idle == DAT_TRUE;
  }));
  ASSERT_THAT(dat_ep_disconnect(pair.client.ep, DAT_CLOSE_ABRUPT_FLAG), succeeds());
  EXPECT_EQ(next_completion(pair.client.recv_evd).status, DAT_DTO_SUCCESS);
  EXPECT_EQ(next_event(pair.client.recv_evd).event_number, DAT_CONNECTION_EVENT_DISCONNECTED);
  EXPECT_EQ(next_completion(pair.server.recv_evd).status, DAT_DTO_SUCCESS);
  EXPECT_EQ(next_event(pair.server.recv_evd).event_number, DAT_CONNECTION_EVENT_DISCONNECTED);
}

TEST(DisconnectedEndpoint, PostsAreFlushedAtOnce) {
  ConnectedPair pair;
  ASSERT_THAT(dat_ep_disconnect(pair.client.ep, DAT_CLOSE_ABRUPT_FLAG), succeeds());
  next_event(pair.client.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED);
  const DAT_RMR_TRIPLET remote = pair.server.memory->remote(0, 64);
  ASSERT_THAT(pair.client.post_send(0, 64, 1), succeeds());
  ASSERT_THAT(pair.client.post_write(0, 64, remote, 2), succeeds());
  ASSERT_THAT(pair.client.post_read(0, 64, remote, 3), succeeds());
  ASSERT_THAT(pair.client.post_recv(0, 64, 4), succeeds());
  for (std::uint64_t cookie = 1; cookie <= 3; ++cookie) {
    const auto completion = next_completion(pair.client.request_evd);
    EXPECT_EQ(completion.status, DAT_DTO_ERR_FLUSHED);
    EXPECT_EQ(completion.user_cookie.as_64, cookie);
  }
  EXPECT_EQ(next_completion(pair.client.recv_evd).status, DAT_DTO_ERR_FLUSHED);
}

// A suppressed completion is suppressed only when it is a success.
TEST(DisconnectedEndpoint, FlushIsReportedDespiteSuppression) {
  if (const Lack lack = lack_of_waiting_sends(); !lack.empty()) GTEST_SKIP() << lack;
  ConnectedPair pair;
  ASSERT_THAT(pair.client.post_send(0, 64, 1, DAT_COMPLETION_SUPPRESS_FLAG), succeeds());
  ASSERT_THAT(dat_ep_disconnect(pair.client.ep, DAT_CLOSE_ABRUPT_FLAG), succeeds());
  const auto completion = next_completion(pair.client.request_evd);
  EXPECT_EQ(completion.status, DAT_DTO_ERR_FLUSHED);
  EXPECT_EQ(completion.user_cookie.as_64, 1u);
}

TEST(Reset, UnconnectedEndpointKeepsItsReceives) {
  Peer server(kServerName);
  Peer client(kClientName);
  ASSERT_THAT(server.post_recv(0, 64, 7), succeeds());
  EXPECT_THAT(dat_ep_reset(server.ep), succeeds());
  establish(server, client);
  ASSERT_THAT(client.post_send(0, 64), succeeds());
  EXPECT_EQ(next_completion(server.recv_evd).user_cookie.as_64, 7u);
}

TEST(Reset, ConnectedAndConnectingEndpointsRefuse) {
  Peer server(kServerName);
  Peer client(kClientName);
  ASSERT_THAT(client.connect(server, server.listen()), succeeds());
  EXPECT_THAT(dat_ep_reset(client.ep), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_ACTCONNPENDING));
  ASSERT_THAT(dat_cr_accept(server.next_request(), server.ep, 0, nullptr), succeeds());
  next_event(client.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  EXPECT_THAT(dat_ep_reset(client.ep), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_CONNECTED));
}

}  // namespace
}  // namespace softdat::conformance
