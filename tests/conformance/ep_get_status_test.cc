// SPDX-License-Identifier: BSD-2-Clause
// dat_ep_get_status, sentence by sentence (docs/CONFORMANCE.md).
#include <gtest/gtest.h>

#include "tests/conformance/lacks.h"
#include "tests/conformance/peer.h"

namespace softdat::conformance {
namespace {

struct Status {
  DAT_EP_STATE state = static_cast<DAT_EP_STATE>(-1);
  DAT_BOOLEAN recv_idle = static_cast<DAT_BOOLEAN>(-1);
  DAT_BOOLEAN request_idle = static_cast<DAT_BOOLEAN>(-1);
};

Status status_of(DAT_EP_HANDLE ep) {
  Status status;
  require(dat_ep_get_status(ep, &status.state, &status.recv_idle, &status.request_idle), "dat_ep_get_status");
  return status;
}

class EpGetStatus : public testing::Test {
 protected:
  Peer server_{kServerName};
  Peer client_{kClientName};
};

TEST_F(EpGetStatus, NewEndpointIsUnconnectedAndIdle) {
  const Status status = status_of(client_.ep);
  EXPECT_EQ(status.state, DAT_EP_STATE_UNCONNECTED);
  EXPECT_EQ(status.recv_idle, DAT_TRUE);
  EXPECT_EQ(status.request_idle, DAT_TRUE);
}

TEST_F(EpGetStatus, RequestingEndpointIsActiveConnectionPending) {
  ASSERT_THAT(client_.connect(server_, server_.listen()), succeeds());
  const DAT_CR_HANDLE cr = server_.next_request();
  EXPECT_EQ(client_.state(), DAT_EP_STATE_ACTIVE_CONNECTION_PENDING);
  require(reject_cr(cr), "dat_cr_reject");
}

TEST_F(EpGetStatus, BothEndsOfAConnectionAreConnected) {
  establish(server_, client_);
  EXPECT_EQ(client_.state(), DAT_EP_STATE_CONNECTED);
  EXPECT_EQ(server_.state(), DAT_EP_STATE_CONNECTED);
}

// A graceful disconnect waits for what was posted: here for a send that finds no receive.
TEST_F(EpGetStatus, GracefulDisconnectIsPendingWhileRequestsAreOutstanding) {
  if (const Lack lack = lack_of_waiting_sends(); !lack.empty()) GTEST_SKIP() << lack;
  establish(server_, client_);
  ASSERT_THAT(client_.post_send(0, 64), succeeds());
  ASSERT_THAT(dat_ep_disconnect(client_.ep, DAT_CLOSE_GRACEFUL_FLAG), succeeds());
  EXPECT_EQ(client_.state(), DAT_EP_STATE_DISCONNECT_PENDING);
  ASSERT_THAT(server_.post_recv(0, 64), succeeds());
  next_event(client_.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED);
  EXPECT_EQ(client_.state(), DAT_EP_STATE_DISCONNECTED);
  EXPECT_EQ(next_completion(client_.request_evd).status, DAT_DTO_SUCCESS);
}

TEST_F(EpGetStatus, BothEndsAreDisconnectedAfterADisconnect) {
  establish(server_, client_);
  ASSERT_THAT(dat_ep_disconnect(client_.ep, DAT_CLOSE_ABRUPT_FLAG), succeeds());
  next_event(client_.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED);
  next_event(server_.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED);
  EXPECT_EQ(client_.state(), DAT_EP_STATE_DISCONNECTED);
  EXPECT_EQ(server_.state(), DAT_EP_STATE_DISCONNECTED);
}

TEST_F(EpGetStatus, RejectedEndpointIsDisconnected) {
  ASSERT_THAT(client_.connect(server_, server_.listen()), succeeds());
  ASSERT_THAT(reject_cr(server_.next_request()), succeeds());
  next_event(client_.connect_evd, DAT_CONNECTION_EVENT_PEER_REJECTED);
  EXPECT_EQ(client_.state(), DAT_EP_STATE_DISCONNECTED);
}

TEST_F(EpGetStatus, ResetEndpointIsUnconnected) {
  establish(server_, client_);
  ASSERT_THAT(dat_ep_disconnect(client_.ep, DAT_CLOSE_ABRUPT_FLAG), succeeds());
  next_event(client_.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED);
  ASSERT_THAT(dat_ep_reset(client_.ep), succeeds());
  EXPECT_EQ(client_.state(), DAT_EP_STATE_UNCONNECTED);
}

TEST_F(EpGetStatus, EndpointOfAReservedServicePointIsReserved) {
  DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;
  ASSERT_THAT(dat_rsp_create(server_.adapter.handle(), unused_qualifier(), server_.ep, server_.cr_evd, &rsp),
              succeeds());
  EXPECT_EQ(server_.state(), DAT_EP_STATE_RESERVED);
  EXPECT_THAT(dat_ep_free(server_.ep), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_RESERVED));
  ASSERT_THAT(dat_rsp_free(rsp), succeeds());
  EXPECT_EQ(server_.state(), DAT_EP_STATE_UNCONNECTED);
}

TEST_F(EpGetStatus, ReservedEndpointIsPassivePendingWhenItsRequestArrives) {
  const DAT_CONN_QUAL qualifier = unused_qualifier();
  DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;
  require(dat_rsp_create(server_.adapter.handle(), qualifier, server_.ep, server_.cr_evd, &rsp), "dat_rsp_create");
  ASSERT_THAT(client_.connect(server_, qualifier), succeeds());
  const DAT_CR_HANDLE cr = server_.next_request();
  EXPECT_EQ(server_.state(), DAT_EP_STATE_PASSIVE_CONNECTION_PENDING);
  EXPECT_THAT(dat_ep_free(server_.ep), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_PASSCONNPENDING));
  EXPECT_THAT(dat_ep_disconnect(server_.ep, DAT_CLOSE_ABRUPT_FLAG),
              fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_PASSCONNPENDING));
  ASSERT_THAT(reject_cr(cr), succeeds());
  EXPECT_EQ(server_.state(), DAT_EP_STATE_UNCONNECTED);
}

TEST_F(EpGetStatus, ProvidersEndpointIsTentativePending) {
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  const DAT_CONN_QUAL qualifier = unused_qualifier();
  require(dat_psp_create(server_.adapter.handle(), qualifier, server_.cr_evd, DAT_PSP_PROVIDER_FLAG, &psp),
          "dat_psp_create");
  ASSERT_THAT(client_.connect(server_, qualifier), succeeds());
  const DAT_CR_HANDLE cr = server_.next_request();
  DAT_CR_PARAM param{};
  require(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param), "dat_cr_query");
  ASSERT_NE(param.local_ep_handle, DAT_HANDLE_NULL);
  EXPECT_EQ(status_of(param.local_ep_handle).state, DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING);
  EXPECT_THAT(dat_ep_free(param.local_ep_handle), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_TENTCONNPENDING));
  require(reject_cr(cr), "dat_cr_reject");
  DAT_EP_STATE state;
  EXPECT_THAT(dat_ep_get_status(param.local_ep_handle, &state, nullptr, nullptr),
              fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
}

TEST_F(EpGetStatus, PostedReceiveMakesTheReceiveSideBusy) {
  ASSERT_THAT(server_.post_recv(0, 64), succeeds());
  EXPECT_EQ(status_of(server_.ep).recv_idle, DAT_FALSE);
  EXPECT_EQ(status_of(server_.ep).request_idle, DAT_TRUE);
}

TEST_F(EpGetStatus, ReceiveSideIsIdleAgainWhenTheReceiveCompleted) {
  establish(server_, client_);
  ASSERT_THAT(server_.post_recv(0, 64), succeeds());
  EXPECT_EQ(status_of(server_.ep).recv_idle, DAT_FALSE);
  ASSERT_THAT(client_.post_send(0, 64), succeeds());
  next_completion(server_.recv_evd);
  EXPECT_EQ(status_of(server_.ep).recv_idle, DAT_TRUE);
  next_completion(client_.request_evd);
  EXPECT_EQ(status_of(client_.ep).request_idle, DAT_TRUE);
}

TEST_F(EpGetStatus, OutstandingSendMakesTheRequestSideBusy) {
  if (const Lack lack = lack_of_waiting_sends(); !lack.empty()) GTEST_SKIP() << lack;
  establish(server_, client_);
  ASSERT_THAT(client_.post_send(0, 64), succeeds());
  EXPECT_EQ(status_of(client_.ep).request_idle, DAT_FALSE);
  EXPECT_EQ(status_of(client_.ep).recv_idle, DAT_TRUE);
  ASSERT_THAT(server_.post_recv(0, 64), succeeds());
  next_completion(client_.request_evd);
  EXPECT_EQ(status_of(client_.ep).request_idle, DAT_TRUE);
}

// Suppressed completions count as long as they are under way, and no longer.
TEST_F(EpGetStatus, SuppressedRequestsBecomeIdleToo) {
  establish(server_, client_);
  const DAT_RMR_TRIPLET target = server_.memory->remote(0, 4096);
  for (int i = 0; i < 5; ++i)
    ASSERT_THAT(client_.post_write(0, 4096, target, 0, DAT_COMPLETION_SUPPRESS_FLAG), succeeds());
  EXPECT_TRUE(eventually([&] { return status_of(client_.ep).request_idle == DAT_TRUE; }));
  EXPECT_TRUE(is_quiet(client_.request_evd));
}

TEST_F(EpGetStatus, FlushingMakesBothSidesIdle) {
  establish(server_, client_);
  ASSERT_THAT(client_.post_recv(0, 64), succeeds());
  ASSERT_THAT(client_.post_send(0, 64), succeeds());
  ASSERT_THAT(dat_ep_disconnect(client_.ep, DAT_CLOSE_ABRUPT_FLAG), succeeds());
  next_event(client_.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED);
  next_completion(client_.recv_evd);
  next_completion(client_.request_evd);
  EXPECT_EQ(status_of(client_.ep).recv_idle, DAT_TRUE);
  EXPECT_EQ(status_of(client_.ep).request_idle, DAT_TRUE);
}

// Programs pass null for what they do not want to know.
TEST_F(EpGetStatus, NullOutputsAreAllowed) {
  DAT_EP_STATE state = static_cast<DAT_EP_STATE>(-1);
  DAT_BOOLEAN idle = DAT_FALSE;
  EXPECT_THAT(dat_ep_get_status(client_.ep, &state, nullptr, nullptr), succeeds());
  EXPECT_EQ(state, DAT_EP_STATE_UNCONNECTED);
  EXPECT_THAT(dat_ep_get_status(client_.ep, nullptr, &idle, nullptr), succeeds());
  EXPECT_EQ(idle, DAT_TRUE);
  idle = DAT_FALSE;
  EXPECT_THAT(dat_ep_get_status(client_.ep, nullptr, nullptr, &idle), succeeds());
  EXPECT_EQ(idle, DAT_TRUE);
  EXPECT_THAT(dat_ep_get_status(client_.ep, nullptr, nullptr, nullptr), succeeds());
}

TEST_F(EpGetStatus, FreedEndpointIsAnInvalidHandle) {
  const DAT_EP_HANDLE stale = client_.ep;
  ASSERT_THAT(dat_ep_free(client_.ep), succeeds());
  client_.ep = DAT_HANDLE_NULL;
  Status status;
  EXPECT_THAT(dat_ep_get_status(stale, &status.state, &status.recv_idle, &status.request_idle),
              fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
}

}  // namespace
}  // namespace softdat::conformance
