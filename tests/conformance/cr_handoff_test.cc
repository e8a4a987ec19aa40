// SPDX-License-Identifier: BSD-2-Clause
// dat_cr_handoff: a connection request goes on to another service point.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/conformance/peer.h"
#include "tests/conformance/setting.h"

namespace softdat::conformance {
namespace {

class Handoff : public testing::Test {
 protected:
  void SetUp() override {
    elsewhere_ = other_.listen();
    require(client_.connect(server_, server_.listen(), "please"), "dat_ep_connect");
    cr_ = server_.next_request();
  }

  // A peer that is refused would ask the first service point again.
  const Setting grace_{"SOFTDAT_CONNECT_GRACE", "0"};
  Peer server_{kServerName};
  Peer other_{kServerName};  // another opening of the same adapter
  Peer client_{kClientName};
  DAT_CONN_QUAL elsewhere_ = 0;
  DAT_CR_HANDLE cr_ = DAT_HANDLE_NULL;
};

// "hands off the Connection Request to another Service Point specified by the Connection Qualifier handoff."
TEST_F(Handoff, RequestArrivesAtTheOtherServicePointWithAllItCarried) {
  ASSERT_THAT(dat_cr_handoff(cr_, elsewhere_), succeeds());
  const auto arrival = next_event(other_.cr_evd, DAT_CONNECTION_REQUEST_EVENT).event_data.cr_arrival_event_data;
  EXPECT_EQ(arrival.sp_handle.psp_handle, other_.psp);
  EXPECT_EQ(arrival.conn_qual, elsewhere_);
  DAT_CR_PARAM asked{};
  ASSERT_THAT(dat_cr_query(arrival.cr_handle, DAT_CR_FIELD_ALL, &asked), succeeds());
  ASSERT_EQ(asked.private_data_size, 6);
  EXPECT_EQ(std::memcmp(asked.private_data, "please", 6), 0);
  EXPECT_EQ(std::memcmp(asked.remote_ia_address_ptr, client_.adapter.address(), sizeof(DAT_SOCK_ADDR)), 0);
  ASSERT_THAT(dat_cr_accept(arrival.cr_handle, other_.ep, 0, nullptr), succeeds());
  next_event(client_.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  next_event(other_.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  expect_conversation(other_, client_);
}

// "This operation also destroys the Connection Request instance."
TEST_F(Handoff, RequestIsSpentHere) {
  ASSERT_THAT(dat_cr_handoff(cr_, elsewhere_), succeeds());
  DAT_CR_PARAM param{};
  EXPECT_THAT(dat_cr_query(cr_, DAT_CR_FIELD_ALL, &param), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CR));
  EXPECT_THAT(dat_cr_accept(cr_, server_.ep, 0, nullptr), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CR));
  EXPECT_THAT(dat_cr_handoff(cr_, elsewhere_), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CR));
  EXPECT_TRUE(is_quiet(server_.cr_evd));
}

TEST_F(Handoff, RequestMayBeHandedOnAndRejectedThere) {
  Peer third(kServerName);
  const DAT_CONN_QUAL last = third.listen();
  ASSERT_THAT(dat_cr_handoff(cr_, elsewhere_), succeeds());
  ASSERT_THAT(dat_cr_handoff(other_.next_request(), last), succeeds());
  ASSERT_THAT(reject_cr(third.next_request()), succeeds());
  next_event(client_.connect_evd, DAT_CONNECTION_EVENT_PEER_REJECTED);
}

// "The handoff parameter is invalid."
TEST_F(Handoff, NobodyThereIsInvalidAndTheRequestStaysAnswerable) {
  EXPECT_THAT(dat_cr_handoff(cr_, unused_qualifier()), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  other_.stop_listening();
  EXPECT_THAT(dat_cr_handoff(cr_, elsewhere_), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  ASSERT_THAT(dat_cr_accept(cr_, server_.ep, 0, nullptr), succeeds());
  next_event(client_.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
}

// Two requests for a queue with room for one: whichever comes second finds it full.
TEST_F(Handoff, FullQueueThereRefusesThePeer) {
  const DAT_EVD_HANDLE narrow = other_.adapter.make_evd(DAT_EVD_CR_FLAG, 1);
  DAT_EVD_PARAM param{};
  require(dat_evd_query(narrow, DAT_EVD_FIELD_ALL, &param), "dat_evd_query");
  ASSERT_EQ(param.evd_qlen, 1);
  const DAT_CONN_QUAL full = unused_qualifier();
  other_.adapter.make_psp(full, narrow);
  Peer second(kClientName);
  ASSERT_THAT(second.connect(server_, server_.listen()), succeeds());
  ASSERT_THAT(dat_cr_handoff(cr_, full), succeeds());
  ASSERT_THAT(dat_cr_handoff(server_.next_request(), full), succeeds());
  next_event(second.connect_evd, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
  const auto arrival = next_event(narrow, DAT_CONNECTION_REQUEST_EVENT).event_data.cr_arrival_event_data;
  ASSERT_THAT(dat_cr_accept(arrival.cr_handle, other_.ep, 0, nullptr), succeeds());
  next_event(client_.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
}

// "The local Endpoint that the Consumer provided for Reserved Service Point reverts to Consumer control", as with a
// rejection.
TEST_F(Handoff, ReservedEndpointIsFreeAgain) {
  Peer reserving(kServerName);
  const DAT_CONN_QUAL qualifier = unused_qualifier();
  DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;
  require(dat_rsp_create(reserving.adapter.handle(), qualifier, reserving.ep, reserving.cr_evd, &rsp),
          "dat_rsp_create");
  Peer second(kClientName);
  ASSERT_THAT(second.connect(reserving, qualifier), succeeds());
  const DAT_CR_HANDLE cr = reserving.next_request();
  EXPECT_EQ(reserving.state(), DAT_EP_STATE_PASSIVE_CONNECTION_PENDING);
  ASSERT_THAT(dat_cr_handoff(cr, elsewhere_), succeeds());
  EXPECT_EQ(reserving.state(), DAT_EP_STATE_UNCONNECTED);
  ASSERT_THAT(dat_cr_accept(other_.next_request(), reserving.ep, 0, nullptr), succeeds());
  next_event(second.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
}

// A reserved service point takes what is handed to it with its endpoint.
TEST_F(Handoff, ReservedServicePointTakesIt) {
  const DAT_CONN_QUAL qualifier = unused_qualifier();
  DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;
  Peer reserving(kServerName);
  require(dat_rsp_create(reserving.adapter.handle(), qualifier, reserving.ep, reserving.cr_evd, &rsp),
          "dat_rsp_create");
  ASSERT_THAT(dat_cr_handoff(cr_, qualifier), succeeds());
  ASSERT_THAT(dat_cr_accept(reserving.next_request(), DAT_HANDLE_NULL, 0, nullptr), succeeds());
  next_event(client_.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  next_event(reserving.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  expect_conversation(reserving, client_);
}

// The peer's time goes on.
TEST(HandoffInTime, PeersDeadlineStaysItsOwn) {
  Peer server(kServerName);
  Peer other(kServerName);
  Peer client(kClientName);
  const DAT_CONN_QUAL elsewhere = other.listen();
  ASSERT_THAT(client.connect(server, server.listen(), {}, 100'000), succeeds());
  ASSERT_THAT(dat_cr_handoff(server.next_request(), elsewhere), succeeds());
  other.next_request();
  next_event(client.connect_evd, DAT_CONNECTION_EVENT_TIMED_OUT);
}

// "another Connection Qualifier on the same IA": its own is as good as any, and the request comes again.
TEST_F(Handoff, RequestMayComeBackToWhereItWas) {
  ASSERT_THAT(dat_cr_handoff(cr_, elsewhere_), succeeds());
  const DAT_CR_HANDLE first = other_.next_request();
  ASSERT_THAT(dat_cr_handoff(first, elsewhere_), succeeds());
  const DAT_CR_HANDLE second = other_.next_request();
  EXPECT_NE(second, first);
  ASSERT_THAT(dat_cr_accept(second, other_.ep, 0, nullptr), succeeds());
  next_event(client_.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  next_event(other_.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  expect_conversation(other_, client_);
}

}  // namespace
}  // namespace softdat::conformance
