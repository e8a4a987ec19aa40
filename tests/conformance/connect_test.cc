// SPDX-License-Identifier: BSD-2-Clause
// dat_ep_connect, dat_psp_*, dat_cr_*: how connections come about and why they do not.
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstring>
#include <list>
#include <string>

#include "tests/conformance/peer.h"

namespace softdat::conformance {
namespace {

class Connect : public testing::Test {
 protected:
  DAT_RETURN connect_with(DAT_TIMEOUT timeout, DAT_COUNT size, void* data, DAT_QOS qos, int flags) {
    return dat_ep_connect(client_.ep, server_.adapter.address(), qualifier_, timeout, size, data, qos,
                          static_cast<DAT_CONNECT_FLAGS>(flags));
  }

  void expect_refusal(DAT_EVENT_NUMBER reason) {
    const DAT_EVENT event = next_event(client_.connect_evd);
    EXPECT_EQ(event.event_number, reason);
    EXPECT_EQ(event.event_data.connect_event_data.ep_handle, client_.ep);
    EXPECT_EQ(client_.state(), DAT_EP_STATE_DISCONNECTED);
    EXPECT_TRUE(is_quiet(client_.connect_evd));
  }

  Peer server_{kServerName};
  Peer client_{kClientName};
  DAT_CONN_QUAL qualifier_ = unused_qualifier();
};

TEST_F(Connect, ConnectionCarriesMessagesBothWays) {
  establish(server_, client_);
  expect_conversation(server_, client_);
}

TEST_F(Connect, QuerySeesBothEnds) {
  establish(server_, client_);
  DAT_EP_PARAM param{};
  ASSERT_THAT(dat_ep_query(client_.ep, DAT_EP_FIELD_ALL, &param), succeeds());
  ASSERT_NE(param.remote_ia_address_ptr, nullptr);
  const auto* remote = reinterpret_cast<const sockaddr_in*>(param.remote_ia_address_ptr);
  const auto* server = reinterpret_cast<const sockaddr_in*>(server_.adapter.address());
  EXPECT_EQ(remote->sin_addr.s_addr, server->sin_addr.s_addr);
  EXPECT_EQ(param.ep_state, DAT_EP_STATE_CONNECTED);
}

// Posting works as soon as the connection is up, whether or not the event was taken.
TEST_F(Connect, PostingNeedsNoEventToBeTaken) {
  ASSERT_THAT(client_.connect(server_, server_.listen()), succeeds());
  ASSERT_THAT(server_.post_recv(0, 64, 8), succeeds());
  ASSERT_THAT(dat_cr_accept(server_.next_request(), server_.ep, 0, nullptr), succeeds());
  ASSERT_TRUE(eventually([&] { return client_.state() == DAT_EP_STATE_CONNECTED; }));
  ASSERT_THAT(client_.post_send(0, 64), succeeds());
  EXPECT_EQ(next_completion(server_.recv_evd).user_cookie.as_64, 8u);
  EXPECT_EQ(next_event(server_.connect_evd).event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
  EXPECT_EQ(next_event(client_.connect_evd).event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
}

TEST_F(Connect, NobodyListeningIsANonPeerRejection) {
  ASSERT_THAT(client_.connect(server_, qualifier_), succeeds());
  expect_refusal(DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
}

TEST_F(Connect, RejectionIsAPeerRejection) {
  ASSERT_THAT(client_.connect(server_, server_.listen()), succeeds());
  ASSERT_THAT(reject_cr(server_.next_request()), succeeds());
  expect_refusal(DAT_CONNECTION_EVENT_PEER_REJECTED);
}

TEST_F(Connect, RefusalFlushesPostedReceives) {
  ASSERT_THAT(client_.post_recv(0, 64, 5), succeeds());
  ASSERT_THAT(client_.connect(server_, qualifier_), succeeds());
  expect_refusal(DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
  const auto completion = next_completion(client_.recv_evd);
  EXPECT_EQ(completion.status, DAT_DTO_ERR_FLUSHED);
  EXPECT_EQ(completion.user_cookie.as_64, 5u);
}

TEST_F(Connect, UnansweredRequestTimesOut) {
  ASSERT_THAT(client_.connect(server_, server_.listen(), {}, 1'000'000), succeeds());
  const DAT_CR_HANDLE cr = server_.next_request();
  expect_refusal(DAT_CONNECTION_EVENT_TIMED_OUT);
  // Too late: the passive side hears it as a refusal of the call or as an accept that failed.
  const DAT_RETURN result = dat_cr_accept(cr, server_.ep, 0, nullptr);
  if (result == DAT_SUCCESS) {
    EXPECT_THAT(next_event(server_.connect_evd).event_number,
                testing::AnyOf(DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR, DAT_CONNECTION_EVENT_ESTABLISHED));
  }
}

TEST_F(Connect, RefusedEndpointConnectsAfterReset) {
  ASSERT_THAT(client_.connect(server_, qualifier_), succeeds());
  expect_refusal(DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
  ASSERT_THAT(dat_ep_reset(client_.ep), succeeds());
  establish(server_, client_);
  expect_conversation(server_, client_);
}

TEST_F(Connect, FreedServicePointNoLongerListens) {
  const DAT_CONN_QUAL qualifier = server_.listen();
  server_.stop_listening();
  ASSERT_THAT(client_.connect(server_, qualifier), succeeds());
  expect_refusal(DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
}

// Requests that arrived before the service point was freed stay answerable.
TEST_F(Connect, FreeingTheServicePointKeepsItsRequests) {
  ASSERT_THAT(client_.connect(server_, server_.listen()), succeeds());
  const DAT_CR_HANDLE cr = server_.next_request();
  server_.stop_listening();
  ASSERT_THAT(dat_cr_accept(cr, server_.ep, 0, nullptr), succeeds());
  next_event(client_.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  next_event(server_.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  expect_conversation(server_, client_);
}

TEST_F(Connect, OnlyAnUnconnectedEndpointCanConnect) {
  ASSERT_THAT(client_.connect(server_, server_.listen()), succeeds());
  EXPECT_THAT(client_.connect(server_, qualifier_), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_ACTCONNPENDING));
  ASSERT_THAT(dat_cr_accept(server_.next_request(), server_.ep, 0, nullptr), succeeds());
  next_event(client_.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  EXPECT_THAT(client_.connect(server_, qualifier_), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_CONNECTED));
  ASSERT_THAT(dat_ep_disconnect(client_.ep, DAT_CLOSE_ABRUPT_FLAG), succeeds());
  next_event(client_.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED);
  EXPECT_THAT(client_.connect(server_, qualifier_), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_DISCONNECTED));
}

TEST_F(Connect, BadArgumentsAreNamedAndChangeNothing) {
  char data[8] = {};
  EXPECT_THAT(dat_ep_connect(client_.ep, nullptr, qualifier_, kPatience, 0, nullptr, DAT_QOS_BEST_EFFORT,
                             DAT_CONNECT_DEFAULT_FLAG),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  EXPECT_THAT(connect_with(0, 0, nullptr, DAT_QOS_BEST_EFFORT, 0), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
  EXPECT_THAT(connect_with(kPatience, -1, data, DAT_QOS_BEST_EFFORT, 0),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5));
  EXPECT_THAT(connect_with(kPatience, 0x7fffffff, data, DAT_QOS_BEST_EFFORT, 0),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5));
  EXPECT_THAT(connect_with(kPatience, 8, nullptr, DAT_QOS_BEST_EFFORT, 0),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6));
  EXPECT_THAT(connect_with(kPatience, 0, nullptr, static_cast<DAT_QOS>(0x100), 0),
              testing::AnyOf(fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG7), fails_with(DAT_MODEL_NOT_SUPPORTED)));
  EXPECT_THAT(connect_with(kPatience, 0, nullptr, DAT_QOS_BEST_EFFORT, 0x80),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG8));
  EXPECT_EQ(client_.state(), DAT_EP_STATE_UNCONNECTED);
  establish(server_, client_);
}

TEST_F(Connect, EveryQualityOfServiceThatIsOfferedConnects) {
  DAT_PROVIDER_ATTR provider{};
  require(dat_ia_query(client_.adapter.handle(), nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &provider),
          "dat_ia_query");
  for (const DAT_QOS qos :
       {DAT_QOS_BEST_EFFORT, DAT_QOS_HIGH_THROUGHPUT, DAT_QOS_LOW_LATENCY, DAT_QOS_ECONOMY, DAT_QOS_PREMIUM}) {
    const DAT_RETURN result = connect_with(kPatience, 0, nullptr, qos, 0);
    const bool offered = (static_cast<unsigned>(provider.dat_qos_supported) & qos) == static_cast<unsigned>(qos);
    if (!offered) {
      EXPECT_THAT(result, fails_with(DAT_MODEL_NOT_SUPPORTED)) << qos;
      continue;
    }
    ASSERT_THAT(result, succeeds()) << qos;
    next_event(client_.connect_evd, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    require(dat_ep_reset(client_.ep), "dat_ep_reset");
  }
}

TEST_F(Connect, AddressOfAnotherFamilyIsInvalid) {
  sockaddr_in6 address{};
  address.sin6_family = AF_APPLETALK;
  EXPECT_THAT(dat_ep_connect(client_.ep, reinterpret_cast<DAT_IA_ADDRESS_PTR>(&address), qualifier_, kPatience, 0,
                             nullptr, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
              fails_with(DAT_INVALID_ADDRESS));
  EXPECT_EQ(client_.state(), DAT_EP_STATE_UNCONNECTED);
}

// Programs overwrite the port of the address they got; it must not matter.
TEST_F(Connect, PortInTheAddressIsIgnored) {
  const DAT_IA_ADDRESS_PTR own = server_.adapter.address();
  sockaddr_in6 address{};  // of IPv4 the port is in the same place
  std::memcpy(&address, own, own->sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
  address.sin6_port = htons(9);
  const DAT_CONN_QUAL qualifier = server_.listen();
  ASSERT_THAT(dat_ep_connect(client_.ep, reinterpret_cast<DAT_IA_ADDRESS_PTR>(&address), qualifier, kPatience, 0,
                             nullptr, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
              succeeds());
  ASSERT_THAT(dat_cr_accept(server_.next_request(), server_.ep, 0, nullptr), succeeds());
  EXPECT_EQ(next_event(client_.connect_evd).event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
}

// All 64 bits of a qualifier count.
TEST_F(Connect, QualifiersThatDifferInOneBitAreDifferent) {
  constexpr DAT_CONN_QUAL kHigh = DAT_CONN_QUAL{1} << 62;
  const DAT_EVD_HANDLE evd = server_.adapter.make_evd(DAT_EVD_CR_FLAG);
  server_.adapter.make_psp(qualifier_, server_.cr_evd);
  ASSERT_THAT(client_.connect(server_, qualifier_ | kHigh), succeeds());
  expect_refusal(DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
  server_.adapter.make_psp(qualifier_ | kHigh, evd);
  require(dat_ep_reset(client_.ep), "dat_ep_reset");
  ASSERT_THAT(client_.connect(server_, qualifier_ | kHigh), succeeds());
  EXPECT_EQ(next_event(evd).event_data.cr_arrival_event_data.conn_qual, qualifier_ | kHigh);
  EXPECT_TRUE(is_quiet(server_.cr_evd));
}

TEST_F(Connect, EndpointConnectsWithinOneAdapter) {
  Peer self(kServerName);
  DAT_EP_HANDLE other = DAT_HANDLE_NULL;
  require(
      dat_ep_create(self.adapter.handle(), self.pz, self.recv_evd, self.request_evd, self.connect_evd, nullptr, &other),
      "dat_ep_create");
  ASSERT_THAT(self.connect(self, self.listen()), succeeds());
  ASSERT_THAT(dat_cr_accept(self.next_request(), other, 0, nullptr), succeeds());
  next_event(self.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  next_event(self.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  DAT_LMR_TRIPLET segment = self.memory->local(256, 64);
  self.memory->fill(0, 64, 4);
  ASSERT_THAT(dat_ep_post_recv(other, 1, &segment, make_cookie(1), DAT_COMPLETION_DEFAULT_FLAG), succeeds());
  ASSERT_THAT(self.post_send(0, 64), succeeds());
  EXPECT_EQ(next_completion(self.recv_evd).ep_handle, other);
  EXPECT_TRUE(self.memory->holds(256, 64, 4));
}

TEST_F(Connect, PeersConnectToEachOtherAtTheSameTime) {
  Peer server2(kServerName);
  Peer client2(kClientName);
  const DAT_CONN_QUAL at_server = server_.listen();
  const DAT_CONN_QUAL at_client = client_.listen();
  // server_ and client_ take the requests; client2 and server2 make them.
  ASSERT_THAT(client2.connect(server_, at_server), succeeds());
  ASSERT_THAT(server2.connect(client_, at_client), succeeds());
  ASSERT_THAT(dat_cr_accept(server_.next_request(), server_.ep, 0, nullptr), succeeds());
  ASSERT_THAT(dat_cr_accept(client_.next_request(), client_.ep, 0, nullptr), succeeds());
  for (Peer* peer : {&server_, &client_, &server2, &client2})
    EXPECT_EQ(next_event(peer->connect_evd).event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
  expect_conversation(server_, client2);
  expect_conversation(client_, server2);
}

TEST_F(Connect, BurstOfRequestsIsQueued) {
  constexpr int kBurst = 32;
  const DAT_CONN_QUAL qualifier = server_.listen();
  std::list<Peer> clients;
  std::list<Peer> servers;
  for (int i = 0; i < kBurst; ++i) {
    PeerOptions small;
    small.memory = 4096;
    small.one_dispatcher = true;  // some devices have room for few
    clients.emplace_back(kClientName, small);
    ASSERT_THAT(clients.back().connect(server_, qualifier), succeeds());
  }
  for (int i = 0; i < kBurst; ++i) {
    PeerOptions small;
    small.memory = 4096;
    small.one_dispatcher = true;
    servers.emplace_back(kServerName, small);
    ASSERT_THAT(dat_cr_accept(server_.next_request(), servers.back().ep, 0, nullptr), succeeds());
  }
  for (Peer& client : clients) EXPECT_EQ(next_event(client.connect_evd).event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
  for (Peer& server : servers) EXPECT_EQ(next_event(server.connect_evd).event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
}

// The backlog is the dispatcher's queue: whoever finds it full is refused by the provider.
TEST_F(Connect, FullBacklogIsANonPeerRejection) {
  const DAT_EVD_HANDLE evd = server_.adapter.make_evd(DAT_EVD_CR_FLAG, 2);
  DAT_EVD_PARAM param{};
  require(dat_evd_query(evd, DAT_EVD_FIELD_ALL, &param), "dat_evd_query");
  server_.adapter.make_psp(qualifier_, evd);
  std::list<Peer> clients;
  for (DAT_COUNT i = 0; i <= param.evd_qlen; ++i) {
    clients.emplace_back(kClientName);
    ASSERT_THAT(clients.back().connect(server_, qualifier_), succeeds());
  }
  // Nobody takes anything, so one of them finds no room.
  int refused = 0;
  ASSERT_TRUE(eventually([&] {
    for (Peer& client : clients) {
      const auto event = take_event(client.connect_evd);
      if (!event) continue;
      EXPECT_EQ(event->event_number, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
      ++refused;
    }
    return refused != 0;
  }));
  for (DAT_COUNT i = 0; i < param.evd_qlen; ++i) next_event(evd, DAT_CONNECTION_REQUEST_EVENT);
  EXPECT_TRUE(is_quiet(evd));
  EXPECT_EQ(refused, 1);
}

// Requests that the consumer has taken are no part of the backlog any more, answered or not.
TEST_F(Connect, TakenRequestsDoNotCountTowardsTheBacklog) {
  const DAT_EVD_HANDLE evd = server_.adapter.make_evd(DAT_EVD_CR_FLAG, 1);
  server_.adapter.make_psp(qualifier_, evd);
  std::list<Peer> clients;
  std::list<DAT_CR_HANDLE> requests;
  for (int i = 0; i < 5; ++i) {
    clients.emplace_back(kClientName);
    ASSERT_THAT(clients.back().connect(server_, qualifier_), succeeds());
    requests.push_back(next_event(evd, DAT_CONNECTION_REQUEST_EVENT).event_data.cr_arrival_event_data.cr_handle);
  }
  for (const DAT_CR_HANDLE cr : requests) EXPECT_THAT(reject_cr(cr), succeeds());
  for (Peer& client : clients) next_event(client.connect_evd, DAT_CONNECTION_EVENT_PEER_REJECTED);
}

// "Consumers can control the size of backlog through the queue size of the associated Event Dispatcher", also later.
TEST_F(Connect, ResizingTheDispatcherResizesTheBacklog) {
  const DAT_EVD_HANDLE evd = server_.adapter.make_evd(DAT_EVD_CR_FLAG, 1);
  server_.adapter.make_psp(qualifier_, evd);
  ASSERT_THAT(dat_evd_resize(evd, 8), succeeds());
  std::list<Peer> clients;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back(kClientName);
    ASSERT_THAT(clients.back().connect(server_, qualifier_), succeeds());
  }
  for (int i = 0; i < 8; ++i) {
    const DAT_EVENT event = next_event(evd, DAT_CONNECTION_REQUEST_EVENT);
    EXPECT_THAT(reject_cr(event.event_data.cr_arrival_event_data.cr_handle), succeeds());
  }
  for (Peer& client : clients) next_event(client.connect_evd, DAT_CONNECTION_EVENT_PEER_REJECTED);
}

}  // namespace
}  // namespace softdat::conformance
