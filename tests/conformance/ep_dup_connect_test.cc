// SPDX-License-Identifier: BSD-2-Clause
// dat_ep_dup_connect: connecting to where another endpoint is connected.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "tests/conformance/lacks.h"
#include "tests/conformance/peer.h"

namespace softdat::conformance {
namespace {

class DupConnect : public testing::Test {
 protected:
  DupConnect() {
    qualifier_ = server_.listen();
    require(client_.connect(server_, qualifier_), "dat_ep_connect");
    require(dat_cr_accept(server_.next_request(), server_.ep, 0, nullptr), "dat_cr_accept");
    next_event(client_.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
    next_event(server_.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  }

  static DAT_RETURN dup(DAT_EP_HANDLE ep, DAT_EP_HANDLE model, DAT_TIMEOUT timeout = kPatience, std::string data = {},
                        int qos = DAT_QOS_BEST_EFFORT) {
    return dat_ep_dup_connect(ep, model, timeout, static_cast<DAT_COUNT>(data.size()),
                              data.empty() ? nullptr : data.data(), static_cast<DAT_QOS>(qos));
  }

  Peer server_{kServerName};
  Peer client_{kClientName};
  Peer second_server_{kServerName};
  Peer second_client_{kClientName};
  DAT_CONN_QUAL qualifier_ = 0;
};

// "The remote end of the requested connection shall be the same as the remote end of the dup_ep_handle."
TEST_F(DupConnect, AsksTheServicePointThatTheOtherIsConnectedTo) {
  ASSERT_THAT(dup(second_client_.ep, client_.ep, kPatience, "again"), succeeds());
  EXPECT_EQ(second_client_.state(), DAT_EP_STATE_ACTIVE_CONNECTION_PENDING);
  const auto arrival = next_event(server_.cr_evd, DAT_CONNECTION_REQUEST_EVENT).event_data.cr_arrival_event_data;
  EXPECT_EQ(arrival.conn_qual, qualifier_);
  EXPECT_EQ(arrival.sp_handle.psp_handle, server_.psp);
  DAT_CR_PARAM asked{};
  ASSERT_THAT(dat_cr_query(arrival.cr_handle, DAT_CR_FIELD_ALL, &asked), succeeds());
  ASSERT_EQ(asked.private_data_size, 5);
  EXPECT_EQ(std::memcmp(asked.private_data, "again", 5), 0);
  ASSERT_THAT(dat_cr_accept(arrival.cr_handle, second_server_.ep, 0, nullptr), succeeds());
  next_event(second_client_.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  next_event(second_server_.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  expect_conversation(second_server_, second_client_);
  expect_conversation(server_, client_);
}

// A duplicate is as good a model as the original.
TEST_F(DupConnect, DuplicateCanBeDuplicated) {
  ASSERT_THAT(dup(second_client_.ep, client_.ep), succeeds());
  ASSERT_THAT(dat_cr_accept(server_.next_request(), second_server_.ep, 0, nullptr), succeeds());
  next_event(second_client_.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  Peer third(kClientName);
  ASSERT_THAT(dup(third.ep, second_client_.ep), succeeds());
  ASSERT_THAT(reject_cr(server_.next_request()), succeeds());
  next_event(third.connect_evd, DAT_CONNECTION_EVENT_PEER_REJECTED);
}

// "... and following the same redirections."
TEST_F(DupConnect, FollowsAHandOff) {
  if (const Lack lack = lack_of_simulation(); !lack.empty()) GTEST_SKIP() << lack;
  Peer other(kServerName);
  const DAT_CONN_QUAL elsewhere = other.listen();
  ASSERT_THAT(second_client_.connect(server_, qualifier_), succeeds());
  ASSERT_THAT(dat_cr_handoff(server_.next_request(), elsewhere), succeeds());
  ASSERT_THAT(dat_cr_accept(other.next_request(), other.ep, 0, nullptr), succeeds());
  next_event(second_client_.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  Peer third(kClientName);
  ASSERT_THAT(dup(third.ep, second_client_.ep), succeeds());
  const auto arrival = next_event(other.cr_evd, DAT_CONNECTION_REQUEST_EVENT).event_data.cr_arrival_event_data;
  EXPECT_EQ(arrival.conn_qual, elsewhere);
  EXPECT_TRUE(is_quiet(server_.cr_evd));
}

// "... DAT_CONNECTION_EVENT_NON_PEER_REJECTED ... remote Consumer is not listening on the requested Connection
// Qualifier."
TEST_F(DupConnect, ServicePointThatHasGoneIsANonPeerRejection) {
  server_.stop_listening();
  ASSERT_THAT(dup(second_client_.ep, client_.ep), succeeds());
  next_event(second_client_.connect_evd, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
  EXPECT_EQ(second_client_.state(), DAT_EP_STATE_DISCONNECTED);
}

// "When the timeout expired ... DAT_CONNECTION_EVENT_TIMED_OUT."
TEST_F(DupConnect, UnansweredRequestTimesOut) {
  ASSERT_THAT(dup(second_client_.ep, client_.ep, 50'000), succeeds());
  next_event(second_client_.connect_evd, DAT_CONNECTION_EVENT_TIMED_OUT);
  EXPECT_EQ(second_client_.state(), DAT_EP_STATE_DISCONNECTED);
}

TEST_F(DupConnect, BadArgumentsAreNamedAndChangeNothing) {
  char data[8] = {};
  const DAT_EP_HANDLE ep = second_client_.ep;
  EXPECT_THAT(dup(ep, client_.ep, 0), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  EXPECT_THAT(dat_ep_dup_connect(ep, client_.ep, kPatience, -1, data, DAT_QOS_BEST_EFFORT),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
  EXPECT_THAT(
      dat_ep_dup_connect(ep, client_.ep, kPatience, client_.adapter.max_private_data() + 1, data, DAT_QOS_BEST_EFFORT),
      fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
  EXPECT_THAT(dat_ep_dup_connect(ep, client_.ep, kPatience, 8, nullptr, DAT_QOS_BEST_EFFORT),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5));
  EXPECT_THAT(dup(DAT_HANDLE_NULL, client_.ep), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
  EXPECT_THAT(dup(ep, DAT_HANDLE_NULL), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
  EXPECT_THAT(dup(ep, client_.pz), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
  EXPECT_EQ(second_client_.state(), DAT_EP_STATE_UNCONNECTED);
}

// "If the local Provider ... does not support the requested qos, the operation fails and DAT_MODEL_NOT_SUPPORTED is
// returned synchronously."
TEST_F(DupConnect, UnknownQualityOfServiceIsNotSupported) {
  EXPECT_THAT(dup(second_client_.ep, client_.ep, kPatience, {}, 0x100), fails_with(DAT_MODEL_NOT_SUPPORTED));
  EXPECT_EQ(second_client_.state(), DAT_EP_STATE_UNCONNECTED);
}

TEST_F(DupConnect, EndpointsInOtherStatesAreRefused) {
  EXPECT_THAT(dup(client_.ep, client_.ep), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_CONNECTED));
  Peer third(kClientName);
  EXPECT_THAT(dup(third.ep, second_client_.ep), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_UNCONNECTED));
  ASSERT_THAT(dat_ep_disconnect(client_.ep, DAT_CLOSE_ABRUPT_FLAG), succeeds());
  EXPECT_THAT(dup(third.ep, client_.ep), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_DISCONNECTED));
  EXPECT_EQ(third.state(), DAT_EP_STATE_UNCONNECTED);
}

TEST_F(DupConnect, EndpointWithoutAZoneIsRefused) {
  DAT_EP_PARAM param{};
  ASSERT_THAT(dat_ep_modify(second_client_.ep, DAT_EP_FIELD_PZ_HANDLE, &param), succeeds());
  EXPECT_THAT(dup(second_client_.ep, client_.ep), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_PZ));
  EXPECT_EQ(second_client_.state(), DAT_EP_STATE_UNCONNECTED);
}

// Whoever was called knows no qualifier at which the caller could be reached.
TEST_F(DupConnect, AcceptedEndpointIsNoModel) {
  EXPECT_THAT(dup(second_server_.ep, server_.ep), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_NOTREADY));
  EXPECT_EQ(second_server_.state(), DAT_EP_STATE_UNCONNECTED);
}

}  // namespace
}  // namespace softdat::conformance
