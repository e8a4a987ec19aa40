// SPDX-License-Identifier: BSD-2-Clause
// Endpoints of DAT_IB_SERVICE_TYPE_UD: exchanges of address handles, datagrams, and letting go; and
// the counters of all kinds of objects.
#include "tests/conformance/api_version.h"

#if SOFTDAT_DAT_MAJOR == 2

#include <dat2/dat_ib_extensions.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "tests/conformance/foreign_memory.h"
#include "tests/conformance/lacks.h"
#include "tests/conformance/peer.h"

namespace softdat::conformance {
namespace {

constexpr std::size_t kPrefix = 40;

PeerOptions datagram_options() {
  PeerOptions options;
  options.attributes = default_attributes();
  if (lack_of_datagrams().empty()) {
    options.attributes->service_type = static_cast<DAT_SERVICE_TYPE>(DAT_IB_SERVICE_TYPE_UD);
  }
  return options;
}

const DAT_IB_EXTENSION_EVENT_DATA& extension_of(const DAT_EVENT& event) {
  return reinterpret_cast<const DAT_IB_EXTENSION_EVENT_DATA&>(event.event_extension_data);
}

DAT_EVENT next_extension(DAT_EVD_HANDLE evd, DAT_IB_EVENT_NUMBER number) {
  return next_event(evd, static_cast<DAT_EVENT_NUMBER>(number));
}

class Datagrams : public testing::Test {
 protected:
  void SetUp() override {
    if (const Lack lack = lack_of_datagrams(); !lack.empty()) GTEST_SKIP() << lack;
  }
  // The client asks, the server answers with `ep`; both ESTABLISHED events are kept.
  void exchange(DAT_EP_HANDLE ep) {
    if (qualifier_ == 0) qualifier_ = server_.listen();
    require(client_.connect(server_, qualifier_, "from the client"), "dat_ep_connect");
    const DAT_EVENT request = next_extension(server_.cr_evd, DAT_IB_UD_CONNECTION_REQUEST_EVENT);
    EXPECT_EQ(extension_of(request).type, DAT_IB_UD_CONNECT_REQUEST);
    EXPECT_EQ(request.event_data.cr_arrival_event_data.conn_qual, qualifier_);
    char answer[] = "from the server";
    require(dat_cr_accept(request.event_data.cr_arrival_event_data.cr_handle, ep, sizeof answer, answer),
            "dat_cr_accept");
    active_ = next_extension(client_.connect_evd, DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED);
    passive_ = next_extension(server_.connect_evd, DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED);
  }
  DAT_IB_ADDR_HANDLE to_server() const { return extension_of(active_).remote_ah; }
  DAT_IB_ADDR_HANDLE to_client() const { return extension_of(passive_).remote_ah; }
  DAT_RETURN send(Peer& peer, std::size_t length, DAT_IB_ADDR_HANDLE to, std::uint64_t cookie = 1) {
    DAT_LMR_TRIPLET local = peer.memory->local(0, length);
    return dat_ib_post_send_ud(peer.ep, 1, &local, &to, make_cookie(cookie), DAT_COMPLETION_DEFAULT_FLAG);
  }

  Peer server_{kServerName, datagram_options()};
  Peer client_{kClientName, datagram_options()};
  DAT_CONN_QUAL qualifier_ = 0;
  DAT_EVENT active_{};
  DAT_EVENT passive_{};
};

TEST_F(Datagrams, AnExchangeGivesBothSidesAnAddressHandle) {
  exchange(server_.ep);
  EXPECT_EQ(extension_of(active_).type, DAT_IB_UD_REMOTE_AH);
  EXPECT_EQ(extension_of(passive_).type, DAT_IB_UD_PASSIVE_REMOTE_AH);
  const auto& connected = active_.event_data.connect_event_data;
  EXPECT_EQ(connected.ep_handle, client_.ep);
  ASSERT_EQ(connected.private_data_size, 16);
  EXPECT_STREQ(static_cast<const char*>(connected.private_data), "from the server");
  const auto& accepted = passive_.event_data.connect_event_data;
  ASSERT_EQ(accepted.private_data_size, 15);
  EXPECT_EQ(std::memcmp(accepted.private_data, "from the client", 15), 0);
  EXPECT_NE(to_server().ah, nullptr);
  EXPECT_NE(to_server().qpn, 0u);
  EXPECT_EQ(client_.state(), DAT_EP_STATE_CONNECTED);
  EXPECT_EQ(server_.state(), DAT_EP_STATE_CONNECTED);
  DAT_HANDLE_TYPE type{};
  EXPECT_THAT(dat_get_handle_type(to_server().ah, &type), succeeds());
  EXPECT_EQ(static_cast<int>(type), DAT_IB_HANDLE_TYPE_EXT);
}

TEST_F(Datagrams, ArriveBehindAPrefix) {
  exchange(server_.ep);
  client_.memory->fill(0, 256, 1);
  ASSERT_THAT(server_.post_recv(1000, 512, 7), succeeds());
  ASSERT_THAT(send(client_, 256, to_server(), 3), succeeds());
  const DAT_EVENT sent = next_extension(client_.request_evd, DAT_IB_DTO_EVENT);
  EXPECT_EQ(extension_of(sent).type, DAT_IB_UD_SEND);
  EXPECT_EQ(sent.event_data.dto_completion_event_data.transfered_length, 256u);
  EXPECT_EQ(sent.event_data.dto_completion_event_data.user_cookie.as_64, 3u);
  EXPECT_EQ(static_cast<int>(sent.event_data.dto_completion_event_data.operation), DAT_IB_DTO_SEND_UD);
  const DAT_EVENT received = next_extension(server_.recv_evd, DAT_IB_DTO_EVENT);
  EXPECT_EQ(extension_of(received).type, DAT_IB_UD_RECV);
  EXPECT_EQ(received.event_data.dto_completion_event_data.transfered_length, kPrefix + 256);
  EXPECT_EQ(received.event_data.dto_completion_event_data.user_cookie.as_64, 7u);
  EXPECT_EQ(received.event_data.dto_completion_event_data.ep_handle, server_.ep);
  EXPECT_TRUE(server_.memory->holds(1000 + kPrefix, 256, 1) ||
              are_same_bytes(client_.memory->data(), server_.memory->data() + 1000 + kPrefix, 256));
  ASSERT_THAT(client_.post_recv(1000, 512, 8), succeeds());
  ASSERT_THAT(send(server_, 16, to_client()), succeeds());
  EXPECT_EQ(extension_of(next_extension(client_.recv_evd, DAT_IB_DTO_EVENT)).type, DAT_IB_UD_RECV);
}

TEST_F(Datagrams, WithoutAReceiveAreLost) {
  exchange(server_.ep);
  ASSERT_THAT(send(client_, 16, to_server()), succeeds());
  next_extension(client_.request_evd, DAT_IB_DTO_EVENT);
  // What comes behind it proves that it has arrived and gone.
  bool received = false;
  EXPECT_TRUE(eventually([&] {
    if (!received) require(send(client_, 8, to_server()), "dat_ib_post_send_ud");
    drain(client_.request_evd);
    static_cast<void>(server_.post_recv(0, 64, 5));
    received = take_event(server_.recv_evd).has_value();
    return received;
  }));
  EXPECT_EQ(client_.state(), DAT_EP_STATE_CONNECTED);
  EXPECT_EQ(server_.state(), DAT_EP_STATE_CONNECTED);
}

TEST_F(Datagrams, AnEndpointExchangesAgainAndAgain) {
  exchange(server_.ep);
  const std::uint32_t first = to_server().qpn;
  DAT_EP_HANDLE other = DAT_HANDLE_NULL;
  const DAT_EP_ATTR attributes = *datagram_options().attributes;
  require(dat_ep_create(server_.adapter.handle(), server_.pz, server_.recv_evd, server_.request_evd,
                        server_.connect_evd, &attributes, &other),
          "dat_ep_create");
  exchange(other);
  EXPECT_NE(to_server().qpn, first);
  DAT_LMR_TRIPLET room = server_.memory->local(0, 100);
  require(dat_ep_post_recv(other, 1, &room, make_cookie(9), DAT_COMPLETION_DEFAULT_FLAG), "dat_ep_post_recv");
  ASSERT_THAT(send(client_, 10, to_server()), succeeds());
  EXPECT_EQ(next_extension(server_.recv_evd, DAT_IB_DTO_EVENT).event_data.dto_completion_event_data.ep_handle, other);
}

TEST_F(Datagrams, RefusedExchangesTellWhy) {
  qualifier_ = server_.listen();
  require(client_.connect(server_, qualifier_), "dat_ep_connect");
  const DAT_EVENT request = next_extension(server_.cr_evd, DAT_IB_UD_CONNECTION_REQUEST_EVENT);
  require(reject_cr(request.event_data.cr_arrival_event_data.cr_handle), "dat_cr_reject");
  DAT_EVENT refused = next_extension(client_.connect_evd, DAT_IB_UD_CONNECTION_REJECT_EVENT);
  EXPECT_EQ(extension_of(refused).type, DAT_IB_UD_CONNECT_REJECT);
  EXPECT_EQ(extension_of(refused).status, DAT_IB_OP_ERR);
  server_.stop_listening();
  require(client_.connect(server_, unused_qualifier()), "dat_ep_connect");
  refused = next_extension(client_.connect_evd, DAT_IB_UD_CONNECTION_REJECT_EVENT);
  EXPECT_EQ(client_.state(), DAT_EP_STATE_UNCONNECTED);
}

TEST_F(Datagrams, HandlesAndExchangesAreFreedOnce) {
  exchange(server_.ep);
  DAT_IB_ADDR_HANDLE to = to_server();
  const DAT_CONTEXT exchange_id = extension_of(active_).context;
  EXPECT_THAT(dat_ib_ud_ah_free(client_.ep, nullptr), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  EXPECT_THAT(dat_ib_ud_ah_free(client_.pz, &to), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
  EXPECT_THAT(dat_ib_ud_ah_free(client_.ep, &to), succeeds());
  EXPECT_THAT(dat_ib_ud_ah_free(client_.ep, &to), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  EXPECT_THAT(send(client_, 8, to), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5));
  EXPECT_THAT(dat_ib_ud_cm_free(client_.ep, exchange_id), succeeds());
  EXPECT_THAT(dat_ib_ud_cm_free(client_.ep, exchange_id), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
}

TEST_F(Datagrams, ArgumentsAreChecked) {
  exchange(server_.ep);
  DAT_IB_ADDR_HANDLE to = to_server();
  DAT_LMR_TRIPLET local = client_.memory->local(0, 8);
  DAT_LMR_TRIPLET outside = client_.memory->local(client_.memory->size() - 4, 8);
  DAT_LMR_TRIPLET large = client_.memory->local(0, 4097);
  const auto post = [&](DAT_EP_HANDLE ep, DAT_COUNT count, DAT_LMR_TRIPLET* segments, DAT_IB_ADDR_HANDLE* handle,
                        int flags) { return dat_ib_post_send_ud(ep, count, segments, handle, make_cookie(1), flags); };
  EXPECT_THAT(post(client_.ep, -1, &local, &to, 0), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  EXPECT_THAT(post(client_.ep, 1, nullptr, &to, 0), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
  EXPECT_THAT(post(client_.ep, 1, &outside, &to, 0), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
  EXPECT_THAT(post(client_.ep, 1, &local, nullptr, 0), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5));
  EXPECT_THAT(post(client_.ep, 1, &local, &to, 0x1000), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG7));
  EXPECT_THAT(post(client_.ep, 1, &large, &to, 0), fails_with(DAT_LENGTH_ERROR));
  EXPECT_THAT(post(client_.pz, 1, &local, &to, 0), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
  EXPECT_THAT(client_.post_send(0, 8), fails_with(DAT_MODEL_NOT_SUPPORTED));
  ConnectedPair pair;
  EXPECT_THAT(post(pair.client.ep, 1, &local, &to, 0), fails_with(DAT_MODEL_NOT_SUPPORTED));
}

TEST_F(Datagrams, UnconnectedEndpointsSendNothing) {
  exchange(server_.ep);
  Peer idle(kClientName, datagram_options());
  DAT_IB_ADDR_HANDLE to = to_server();
  DAT_LMR_TRIPLET local = idle.memory->local(0, 8);
  EXPECT_THAT(dat_ib_post_send_ud(idle.ep, 1, &local, &to, make_cookie(1), DAT_COMPLETION_DEFAULT_FLAG),
              fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_UNCONNECTED));
}

TEST_F(Datagrams, ARequestIsAcceptedWithAnEndpointOfItsKindOnly) {
  qualifier_ = server_.listen();
  require(client_.connect(server_, qualifier_), "dat_ep_connect");
  const DAT_EVENT request = next_extension(server_.cr_evd, DAT_IB_UD_CONNECTION_REQUEST_EVENT);
  Peer connected(kServerName);
  EXPECT_THAT(dat_cr_accept(request.event_data.cr_arrival_event_data.cr_handle, connected.ep, 0, nullptr),
              fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
  EXPECT_THAT(reject_cr(request.event_data.cr_arrival_event_data.cr_handle), succeeds());
}

// An endpoint becomes one for connections, and back.
TEST_F(Datagrams, TheServiceTypeChangesWhileNoReceiveIsPosted) {
  DAT_EP_PARAM param{};
  const auto set_service = [&](int type) {
    param.ep_attr.service_type = static_cast<DAT_SERVICE_TYPE>(type);
    return dat_ep_modify(client_.ep, DAT_EP_FIELD_EP_ATTR_SERVICE_TYPE, &param);
  };
  ASSERT_THAT(set_service(DAT_SERVICE_TYPE_RC), succeeds());
  ASSERT_THAT(client_.post_recv(0, 64, 1), succeeds());
  EXPECT_THAT(set_service(DAT_IB_SERVICE_TYPE_UD), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_UNCONNECTED));
  Peer server(kServerName);
  establish(server, client_);
  ASSERT_THAT(server.post_send(0, 64, 2), succeeds());
  EXPECT_EQ(next_completion(client_.recv_evd).user_cookie.as_64, 1u);
  client_.renew_endpoint();
  ASSERT_THAT(set_service(DAT_SERVICE_TYPE_RC), succeeds());
  ASSERT_THAT(set_service(DAT_IB_SERVICE_TYPE_UD), succeeds());
  ASSERT_THAT(client_.post_recv(0, 64, 3), succeeds());
  EXPECT_THAT(set_service(DAT_SERVICE_TYPE_RC), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_UNCONNECTED));
  exchange(server_.ep);
  ASSERT_THAT(send(server_, 8, to_client()), succeeds());
  const DAT_EVENT received = next_extension(client_.recv_evd, DAT_IB_DTO_EVENT);
  EXPECT_EQ(received.event_data.dto_completion_event_data.user_cookie.as_64, 3u);
}

TEST_F(Datagrams, DispatchersChangeWhileNothingIsUnderWay) {
  DAT_EP_PARAM param{};
  param.recv_evd_handle = client_.adapter.make_evd(DAT_EVD_DTO_FLAG);
  ASSERT_THAT(client_.connect(server_, server_.listen()), succeeds());
  EXPECT_THAT(dat_ep_modify(client_.ep, DAT_EP_FIELD_RECV_EVD_HANDLE, &param),
              fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_UNCONNECTED));
  const DAT_EVENT request = next_extension(server_.cr_evd, DAT_IB_UD_CONNECTION_REQUEST_EVENT);
  ASSERT_THAT(reject_cr(request.event_data.cr_arrival_event_data.cr_handle), succeeds());
  next_extension(client_.connect_evd, DAT_IB_UD_CONNECTION_REJECT_EVENT);
  ASSERT_THAT(dat_ep_modify(client_.ep, DAT_EP_FIELD_RECV_EVD_HANDLE, &param), succeeds());
  ASSERT_THAT(client_.post_recv(0, 64, 4), succeeds());
  param.recv_evd_handle = client_.recv_evd;
  EXPECT_THAT(dat_ep_modify(client_.ep, DAT_EP_FIELD_RECV_EVD_HANDLE, &param),
              fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_UNCONNECTED));
}

TEST_F(Datagrams, DisconnectingFlushesAndTellsSo) {
  exchange(server_.ep);
  ASSERT_THAT(client_.post_recv(0, 64, 5), succeeds());
  ASSERT_THAT(dat_ep_disconnect(client_.ep, DAT_CLOSE_ABRUPT_FLAG), succeeds());
  next_event(client_.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED);
  EXPECT_EQ(client_.state(), DAT_EP_STATE_DISCONNECTED);
  EXPECT_EQ(next_extension(client_.recv_evd, DAT_IB_DTO_EVENT).event_data.dto_completion_event_data.status,
            DAT_DTO_ERR_FLUSHED);
  ASSERT_THAT(dat_ep_reset(client_.ep), succeeds());
  exchange(server_.ep);
}

class Counters : public testing::Test {
 protected:
  static std::uint64_t counter(DAT_HANDLE handle, int which, int reset = 0) {
    DAT_UINT64 value = ~DAT_UINT64{0};
    require(dat_ib_query_counters(handle, which, &value, reset), "dat_ib_query_counters");
    return value;
  }
};

TEST_F(Counters, OfAnEndpointCountItsTransfers) {
  ConnectedPair pair;
  expect_conversation(pair.server, pair.client);
  DAT_EP_HANDLE ep = pair.client.ep;
  EXPECT_EQ(counter(ep, DCNT_EP_CONNECT), 1u);
  EXPECT_EQ(counter(pair.server.ep, DCNT_EP_CONNECT), 0u);
  const std::uint64_t sends = counter(ep, DCNT_EP_POST_SEND);
  EXPECT_GE(sends, 1u);
  EXPECT_GE(counter(ep, DCNT_EP_RECV), 1u);
  EXPECT_EQ(counter(ep, DCNT_EP_POST_WRITE_DATA), 0u);
  require(pair.client.post_write(0, 1000, pair.server.memory->remote(0, 1000)), "dat_ep_post_rdma_write");
  next_completion(pair.client.request_evd);
  EXPECT_EQ(counter(ep, DCNT_EP_POST_WRITE), 1u);
  EXPECT_EQ(counter(ep, DCNT_EP_POST_WRITE_DATA, 1), 1000u);
  EXPECT_EQ(counter(ep, DCNT_EP_POST_WRITE_DATA), 0u) << "reset";
  EXPECT_EQ(counter(ep, DCNT_EP_POST_WRITE), 1u) << "not reset";
  EXPECT_EQ(counter(ep, DCNT_EP_POST_SEND), sends);
}

// A pool uses an endpoint again and again, each time with another dispatcher.
TEST_F(Counters, OfAnEndpointOutliveItsDispatchers) {
  ConnectedPair pair;
  constexpr std::uint64_t kRounds = 5;
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    require(pair.client.post_write(0, 100, pair.server.memory->remote(0, 100)), "dat_ep_post_rdma_write");
    next_completion(pair.client.request_evd);
    EXPECT_EQ(counter(pair.client.ep, DCNT_EP_POST_WRITE_DATA), round * 100);
    for (Peer* peer : {&pair.client, &pair.server}) {
      dat_ep_disconnect(peer->ep, DAT_CLOSE_ABRUPT_FLAG);
      next_event(peer->connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED);
      require(dat_ep_reset(peer->ep), "dat_ep_reset");
    }
    DAT_EP_PARAM param{};
    param.request_evd_handle = pair.client.adapter.make_evd(DAT_EVD_DTO_FLAG);
    ASSERT_THAT(dat_ep_modify(pair.client.ep, DAT_EP_FIELD_REQUEST_EVD_HANDLE, &param), succeeds());
    ASSERT_THAT(dat_evd_free(std::exchange(pair.client.request_evd, param.request_evd_handle)), succeeds());
    establish(pair.server, pair.client);
  }
}

TEST_F(Counters, OfAnAdapterCountItsObjectsAndConnections) {
  ConnectedPair pair;
  DAT_UINT64 all[DCNT_IA_ALL_COUNTERS];
  ASSERT_THAT(dat_ib_query_counters(pair.client.adapter.handle(), DCNT_IA_ALL_COUNTERS, all, 0), succeeds());
  EXPECT_EQ(all[DCNT_IA_PZ_CREATE], 1u);
  EXPECT_EQ(all[DCNT_IA_EP_CREATE], 1u);
  EXPECT_EQ(all[DCNT_IA_EP_FREE], 0u);
  EXPECT_EQ(all[DCNT_IA_CM_REQ_TX], 1u);
  EXPECT_EQ(all[DCNT_IA_CM_ACTIVE_EST], 1u);
  EXPECT_EQ(counter(pair.server.adapter.handle(), DCNT_IA_SP_CR), 1u);
  EXPECT_EQ(counter(pair.server.adapter.handle(), DCNT_IA_SP_CR_ACCEPTED), 1u);
  EXPECT_EQ(counter(pair.server.adapter.handle(), DCNT_IA_CM_PASSIVE_EST), 1u);
}

TEST_F(Counters, OfADispatcherCountItsDequeues) {
  Adapter adapter;
  DAT_EVD_HANDLE evd = adapter.make_software_evd();
  post_software_event(evd, 1);
  EXPECT_EQ(drain(evd), 1);
  EXPECT_EQ(counter(evd, DCNT_EVD_DEQUEUE), 2u);
  EXPECT_EQ(counter(evd, DCNT_EVD_DEQUEUE_FOUND), 1u);
  EXPECT_EQ(counter(evd, DCNT_EVD_DEQUEUE_NOT_FOUND, 1), 1u);
  EXPECT_EQ(counter(evd, DCNT_EVD_DEQUEUE_NOT_FOUND), 0u);
}

TEST_F(Counters, OthersAreRefused) {
  Peer peer(kServerName);
  DAT_UINT64 value = 0;
  EXPECT_THAT(dat_ib_query_counters(peer.pz, 0, &value, 0), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1));
  EXPECT_THAT(dat_ib_query_counters(peer.ep, -1, &value, 0), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  EXPECT_THAT(dat_ib_query_counters(peer.ep, DCNT_EP_ALL_COUNTERS + 1, &value, 0),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  EXPECT_THAT(dat_ib_query_counters(peer.ep, 0, nullptr, 0), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
  EXPECT_THAT(dat_ib_print_counters(peer.pz, 0, 0), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1));
  EXPECT_THAT(dat_ib_start_counter(peer.adapter.handle(), DCNT_IA_CM), succeeds());
  EXPECT_THAT(dat_ib_start_counter(peer.adapter.handle(), DCNT_IA_LNK), fails_with(DAT_NOT_IMPLEMENTED));
  EXPECT_THAT(dat_ib_stop_counter(peer.ep, DCNT_IA_CM), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA));
}

TEST_F(Counters, ArePrintedByName) {
  Peer peer(kServerName);
  testing::internal::CaptureStdout();
  EXPECT_THAT(dat_ib_print_counters(peer.ep, DCNT_EP_CONNECT, 0), succeeds());
  std::fflush(stdout);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), testing::HasSubstr(" connect 0\n"));
}

}  // namespace
}  // namespace softdat::conformance

#endif
