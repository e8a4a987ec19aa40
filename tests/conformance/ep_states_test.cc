// SPDX-License-Identifier: BSD-2-Clause
// Every state of an endpoint: what dat_ep_free, dat_ep_reset, dat_ep_disconnect, dat_ep_connect, dat_ep_query and the
// posting calls do there.
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstring>
#include <set>

#include "tests/conformance/endpoint_states.h"

namespace softdat::conformance {
namespace {

class EpInEveryState : public testing::TestWithParam<DAT_EP_STATE> {
 protected:
  void SetUp() override {
    if (const Lack lack = lack_of_state(GetParam()); !lack.empty()) GTEST_SKIP() << lack;
  }

  bool is_one_of(std::set<DAT_EP_STATE> states) const { return states.count(GetParam()) != 0; }
  testing::Matcher<DAT_RETURN> refuses() const { return fails_with(DAT_INVALID_STATE, subtype_of(GetParam())); }

  // What cannot be built is left out only after this.
  EndpointInState world_{lack_of_state(GetParam()).empty() ? GetParam() : DAT_EP_STATE_UNCONNECTED};
};

// dat_ep_free: "can be destroyed in any Endpoint state except Reserved, Passive Connection Pending, and Tentative
// Connection Pending."
TEST_P(EpInEveryState, FreeIsRefusedOnlyWhileAServicePointHoldsTheEndpoint) {
  const bool is_held = is_one_of(
      {DAT_EP_STATE_RESERVED, DAT_EP_STATE_PASSIVE_CONNECTION_PENDING, DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING});
  if (!is_held) {
    EXPECT_THAT(dat_ep_free(world_.ep()), succeeds());
    world_.owner().ep = DAT_HANDLE_NULL;
    EXPECT_THAT(dat_ep_free(world_.ep()), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
    return;
  }
  EXPECT_THAT(dat_ep_free(world_.ep()), refuses());
  EXPECT_EQ(world_.now(), GetParam());
  // "the Consumer shall first destroy the associated Reserved Service Point", or "first reject the associated
  // Connection Request that transitions the Endpoint into the Unconnected state".
  if (GetParam() == DAT_EP_STATE_RESERVED) {
    EXPECT_THAT(dat_rsp_free(world_.reserved_point()), succeeds());
  } else {
    EXPECT_THAT(reject_cr(world_.request()), succeeds());
  }
  // "that transitions the Endpoint back to Provider control, and the Endpoint is destroyed as far as the Consumer is
  // concerned."
  if (GetParam() == DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING) {
    EXPECT_THAT(dat_ep_free(world_.ep()), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
    return;
  }
  EXPECT_EQ(world_.now(), DAT_EP_STATE_UNCONNECTED);
  EXPECT_THAT(dat_ep_free(world_.ep()), succeeds());
}

// dat_ep_reset: "valid for both Disconnected and Unconnected states."
TEST_P(EpInEveryState, ResetIsForDisconnectedAndUnconnectedEndpoints) {
  if (is_one_of({DAT_EP_STATE_UNCONNECTED, DAT_EP_STATE_DISCONNECTED})) {
    EXPECT_THAT(dat_ep_reset(world_.ep()), succeeds());
    EXPECT_EQ(world_.now(), DAT_EP_STATE_UNCONNECTED);
    return;
  }
  EXPECT_THAT(dat_ep_reset(world_.ep()), refuses());
  EXPECT_EQ(world_.now(), GetParam());
}

// dat_ep_disconnect: "Disconnecting an Endpoint in UNCONNECTED, RESERVED, PASSIVE_CONNECTION_PENDING, and
// TENTATIVE_CONNECTION_PENDING is disallowed."
TEST_P(EpInEveryState, AbruptDisconnectEndsWhatHasBegun) {
  if (is_one_of({DAT_EP_STATE_UNCONNECTED, DAT_EP_STATE_RESERVED, DAT_EP_STATE_PASSIVE_CONNECTION_PENDING,
                 DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING})) {
    for (const DAT_CLOSE_FLAGS flags : {DAT_CLOSE_ABRUPT_FLAG, DAT_CLOSE_GRACEFUL_FLAG}) {
      EXPECT_THAT(dat_ep_disconnect(world_.ep(), flags), refuses());
    }
    EXPECT_EQ(world_.now(), GetParam());
    return;
  }
  EXPECT_THAT(dat_ep_disconnect(world_.ep(), DAT_CLOSE_ABRUPT_FLAG), succeeds());
  EXPECT_EQ(world_.now(), DAT_EP_STATE_DISCONNECTED);
  if (GetParam() == DAT_EP_STATE_DISCONNECTED) {  // "Disconnecting an unconnected Disconnected Endpoint is no-op."
    EXPECT_TRUE(is_quiet(world_.owner().connect_evd));
    return;
  }
  next_event(world_.owner().connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED);
  EXPECT_TRUE(is_quiet(world_.owner().connect_evd));
}

// "Both abrupt and graceful disconnect of the Endpoint during connection establishment ... 'aborts' the connection
// establishment ... That causes preposted Recv DTOs to be flushed." In all states but CONNECTED the flags say nothing.
TEST_P(EpInEveryState, GracefulDisconnectDuringEstablishmentAborts) {
  if (!is_one_of({DAT_EP_STATE_ACTIVE_CONNECTION_PENDING, DAT_EP_STATE_COMPLETION_PENDING})) return;
  ASSERT_THAT(world_.owner().post_recv(0, 64, 9), succeeds());
  EXPECT_THAT(dat_ep_disconnect(world_.ep(), DAT_CLOSE_GRACEFUL_FLAG), succeeds());
  EXPECT_EQ(world_.now(), DAT_EP_STATE_DISCONNECTED);
  const auto completion = next_completion(world_.owner().recv_evd);
  EXPECT_EQ(completion.status, DAT_DTO_ERR_FLUSHED);
  EXPECT_EQ(completion.user_cookie.as_64, 9u);
  next_event(world_.owner().connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED);
}

// dat_ep_connect: "Endpoint was not in DAT_EP_STATE_UNCONNECTED state."
TEST_P(EpInEveryState, OnlyAnUnconnectedEndpointConnects) {
  const DAT_CONN_QUAL qualifier = unused_qualifier();
  const auto connect = [&] {
    return dat_ep_connect(world_.ep(), world_.other().adapter.address(), qualifier, kPatience, 0, nullptr,
                          DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
  };
  if (GetParam() == DAT_EP_STATE_UNCONNECTED) {
    EXPECT_THAT(connect(), succeeds());
    return;
  }
  EXPECT_THAT(connect(), refuses());
  EXPECT_EQ(world_.now(), GetParam());
}

// dat_rsp_create: "Parameter in an invalid state. For example, an Endpoint was not in the Idle state."
TEST_P(EpInEveryState, OnlyAnUnconnectedEndpointIsReserved) {
  DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;
  const DAT_RETURN result =
      dat_rsp_create(world_.owner().adapter.handle(), unused_qualifier(), world_.ep(), world_.owner().cr_evd, &rsp);
  if (GetParam() == DAT_EP_STATE_UNCONNECTED) {
    EXPECT_THAT(result, succeeds());
    EXPECT_EQ(world_.now(), DAT_EP_STATE_RESERVED);
    return;
  }
  EXPECT_THAT(result, refuses());
  EXPECT_EQ(rsp, DAT_HANDLE_NULL);
  EXPECT_EQ(world_.now(), GetParam());
}

// dat_cr_accept takes an unconnected endpoint where the request brings none.
TEST_P(EpInEveryState, OnlyAnUnconnectedEndpointAccepts) {
  Peer client(kClientName);
  Peer& owner = world_.owner();
  const DAT_CONN_QUAL qualifier = unused_qualifier();
  const DAT_EVD_HANDLE evd = owner.adapter.make_evd(DAT_EVD_CR_FLAG);
  owner.adapter.make_psp(qualifier, evd);
  ASSERT_THAT(client.connect(owner, qualifier), succeeds());
  const DAT_CR_HANDLE cr = next_event(evd).event_data.cr_arrival_event_data.cr_handle;
  const DAT_RETURN result = dat_cr_accept(cr, world_.ep(), 0, nullptr);
  if (GetParam() == DAT_EP_STATE_UNCONNECTED) {
    EXPECT_THAT(result, succeeds());
    next_event(client.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
    return;
  }
  // "the operation fails without any effect on the local Endpoint, Pending Connection Request ..."
  EXPECT_THAT(result, refuses());
  EXPECT_EQ(world_.now(), GetParam());
  EXPECT_THAT(reject_cr(cr), succeeds());
  next_event(client.connect_evd, DAT_CONNECTION_EVENT_PEER_REJECTED);
}

// dat_ep_post_recv works in every state; requests only where there is or was a connection.
TEST_P(EpInEveryState, ReceivesArePostedAnywhereAndRequestsWhereThereIsAConnection) {
  DAT_LMR_TRIPLET segment = world_.owner().memory->local(0, 64);
  const DAT_RETURN received = dat_ep_post_recv(world_.ep(), 1, &segment, make_cookie(3), DAT_COMPLETION_DEFAULT_FLAG);
  if (GetParam() == DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING) {  // has no zone yet
    EXPECT_THAT(received, fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_PZ));
  } else {
    EXPECT_THAT(received, succeeds());
  }
  const DAT_RETURN sent = dat_ep_post_send(world_.ep(), 1, &segment, make_cookie(4), DAT_COMPLETION_DEFAULT_FLAG);
  if (is_one_of({DAT_EP_STATE_CONNECTED, DAT_EP_STATE_DISCONNECTED})) {
    EXPECT_THAT(sent, succeeds());
  } else {
    EXPECT_THAT(sent, refuses());
  }
}

// dat_ep_query: remote_ia_address and remote_port_qual "are valid only for Endpoints in" the six states between
// unconnected and disconnected; so is local_port_qual, but for tentative ones.
TEST_P(EpInEveryState, QueryTellsTheOtherSideWhereThereIsOne) {
  DAT_EP_PARAM param{};
  ASSERT_THAT(dat_ep_query(world_.ep(), DAT_EP_FIELD_ALL, &param), succeeds());
  ASSERT_NE(param.local_ia_address_ptr, nullptr);
  ASSERT_NE(param.remote_ia_address_ptr, nullptr);
  const auto* remote = reinterpret_cast<const sockaddr_in*>(param.remote_ia_address_ptr);
  if (is_one_of({DAT_EP_STATE_UNCONNECTED, DAT_EP_STATE_RESERVED})) {
    EXPECT_EQ(remote->sin_addr.s_addr, 0u);
    EXPECT_EQ(param.remote_port_qual, 0u);
    return;
  }
  if (GetParam() == DAT_EP_STATE_DISCONNECTED) return;  // need not be valid
  if (GetParam() != DAT_EP_STATE_COMPLETION_PENDING) {  // whose peer is another process
    const auto* other = reinterpret_cast<const sockaddr_in*>(world_.other().adapter.address());
    EXPECT_EQ(remote->sin_addr.s_addr, other->sin_addr.s_addr);
  }
  EXPECT_NE(param.remote_port_qual, 0u);
  if (GetParam() != DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING) {
    EXPECT_NE(param.local_port_qual, 0u);
  }
}

// dat_ep_get_status tells eight states: an accept that is under way is a passive connection that is pending.
TEST_P(EpInEveryState, StatusTellsTheState) {
  DAT_EP_STATE state = DAT_EP_STATE_UNCONNECTED;
  ASSERT_THAT(dat_ep_get_status(world_.ep(), &state, nullptr, nullptr), succeeds());
  const bool is_ninth = GetParam() == DAT_EP_STATE_COMPLETION_PENDING;
  EXPECT_EQ(state, is_ninth ? DAT_EP_STATE_PASSIVE_CONNECTION_PENDING : GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, EpInEveryState, testing::ValuesIn(kAllStates),
                         [](const auto& test) { return std::string(name_of(test.param)); });

// "The Port Qualifier is passed to the remote side of the requested connection and is available to the remote Consumer
// in the Connection Request."
TEST(PortQualifier, RequestShowsTheOneThatTheEndpointIsBoundTo) {
  Peer server(kServerName);
  Peer client(kClientName);
  ASSERT_THAT(client.connect(server, server.listen()), succeeds());
  DAT_CR_PARAM asked{};
  ASSERT_THAT(dat_cr_query(server.next_request(), DAT_CR_FIELD_ALL, &asked), succeeds());
  DAT_EP_PARAM param{};
  ASSERT_THAT(dat_ep_query(client.ep, DAT_EP_FIELD_ALL, &param), succeeds());
  EXPECT_EQ(asked.remote_port_qual, param.local_port_qual);
  EXPECT_NE(param.local_port_qual, 0u);
}

}  // namespace
}  // namespace softdat::conformance
