// SPDX-License-Identifier: BSD-2-Clause
// dat_psp_create, dat_psp_create_any, dat_psp_query, dat_psp_free; dat_cr_query, dat_cr_accept,
// dat_cr_reject.
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstring>
#include <optional>
#include <string>

#include "tests/conformance/peer.h"

namespace softdat::conformance {
namespace {

class Psp : public testing::Test {
 protected:
  DAT_RETURN create(DAT_CONN_QUAL qualifier, DAT_EVD_HANDLE evd, DAT_PSP_HANDLE* psp,
                    DAT_PSP_FLAGS flags = DAT_PSP_CONSUMER_FLAG) {
    return dat_psp_create(adapter_.handle(), qualifier, evd, flags, psp);
  }

  Adapter adapter_;
  DAT_EVD_HANDLE evd_ = adapter_.make_evd(DAT_EVD_CR_FLAG);
  DAT_CONN_QUAL qualifier_ = unused_qualifier();
  DAT_PSP_HANDLE psp_ = DAT_HANDLE_NULL;
};

TEST_F(Psp, QueryTellsWhatItWasMadeWith) {
  ASSERT_THAT(create(qualifier_, evd_, &psp_), succeeds());
  DAT_PSP_PARAM param{};
  ASSERT_THAT(dat_psp_query(psp_, DAT_PSP_FIELD_ALL, &param), succeeds());
  EXPECT_EQ(param.ia_handle, adapter_.handle());
  EXPECT_EQ(param.conn_qual, qualifier_);
  EXPECT_EQ(param.evd_handle, evd_);
  EXPECT_EQ(param.psp_flags, DAT_PSP_CONSUMER_FLAG);
}

TEST_F(Psp, QueryRefusesUnknownBitsAndNull) {
  ASSERT_THAT(create(qualifier_, evd_, &psp_), succeeds());
  DAT_PSP_PARAM param{};
  EXPECT_THAT(dat_psp_query(psp_, static_cast<DAT_PSP_PARAM_MASK>(0x100), &param),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  EXPECT_THAT(dat_psp_query(psp_, DAT_PSP_FIELD_ALL, nullptr), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
}

TEST_F(Psp, QualifierInUseIsRefused) {
  ASSERT_THAT(create(qualifier_, evd_, &psp_), succeeds());
  DAT_PSP_HANDLE second = DAT_HANDLE_NULL;
  EXPECT_THAT(create(qualifier_, evd_, &second), fails_with(DAT_CONN_QUAL_IN_USE));
  EXPECT_EQ(second, DAT_HANDLE_NULL);
  Adapter other;
  EXPECT_THAT(
      dat_psp_create(other.handle(), qualifier_, other.make_evd(DAT_EVD_CR_FLAG), DAT_PSP_CONSUMER_FLAG, &second),
      fails_with(DAT_CONN_QUAL_IN_USE));
}

// The dispatcher may be of another opening of the adapter. When that is closed, nobody can take requests any more.
TEST_F(Psp, RequestsToADispatcherThatHasEndedAreRefused) {
  std::optional<Adapter> other(kServerName);
  ASSERT_THAT(create(qualifier_, other->make_evd(DAT_EVD_CR_FLAG), &psp_), succeeds());
  other.reset();
  Peer client(kClientName);
  ASSERT_THAT(dat_ep_connect(client.ep, adapter_.address(), qualifier_, DAT_TIMEOUT_INFINITE, 0, nullptr,
                             DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
              succeeds());
  const DAT_EVENT event = next_event(client.connect_evd);
  EXPECT_NE(event.event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
}

TEST_F(Psp, FreedQualifierCanBeUsedAgain) {
  ASSERT_THAT(create(qualifier_, evd_, &psp_), succeeds());
  ASSERT_THAT(dat_psp_free(psp_), succeeds());
  EXPECT_THAT(dat_psp_free(psp_), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PSP));
  EXPECT_THAT(create(qualifier_, evd_, &psp_), succeeds());
}

TEST_F(Psp, EverySizeOfQualifierIsLegal) {
  for (const DAT_CONN_QUAL base : {DAT_CONN_QUAL{45248}, DAT_CONN_QUAL{0x0AFFAB1E}, DAT_CONN_QUAL{1} << 35}) {
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    const DAT_CONN_QUAL qualifier = base + (unused_qualifier() << 36);
    EXPECT_THAT(create(qualifier, evd_, &psp), succeeds()) << qualifier;
  }
}

TEST_F(Psp, BadArgumentsAreNamed) {
  EXPECT_THAT(create(qualifier_, adapter_.make_pz(), &psp_), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_CR));
  EXPECT_THAT(create(qualifier_, adapter_.make_evd(DAT_EVD_DTO_FLAG), &psp_),
              fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_CR));
  EXPECT_THAT(create(qualifier_, evd_, &psp_, static_cast<DAT_PSP_FLAGS>(9)),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
  EXPECT_THAT(create(qualifier_, evd_, nullptr), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5));
  EXPECT_THAT(create(qualifier_, evd_, &psp_), succeeds());
}

TEST_F(Psp, AnyQualifierIsSmallAndFree) {
  DAT_CONN_QUAL first = 0;
  DAT_CONN_QUAL second = 0;
  DAT_PSP_HANDLE other = DAT_HANDLE_NULL;
  ASSERT_THAT(dat_psp_create_any(adapter_.handle(), &first, evd_, DAT_PSP_CONSUMER_FLAG, &psp_), succeeds());
  ASSERT_THAT(dat_psp_create_any(adapter_.handle(), &second, evd_, DAT_PSP_CONSUMER_FLAG, &other), succeeds());
  EXPECT_NE(first, second);
  EXPECT_LT(first, 65536u);
  DAT_PSP_PARAM param{};
  ASSERT_THAT(dat_psp_query(psp_, DAT_PSP_FIELD_ALL, &param), succeeds());
  EXPECT_EQ(param.conn_qual, first);
}

TEST_F(Psp, AnyRefusesBadArguments) {
  DAT_CONN_QUAL qualifier = 0;
  const DAT_IA_HANDLE ia = adapter_.handle();
  EXPECT_THAT(dat_psp_create_any(ia, nullptr, evd_, DAT_PSP_CONSUMER_FLAG, &psp_),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  EXPECT_THAT(dat_psp_create_any(ia, &qualifier, adapter_.make_pz(), DAT_PSP_CONSUMER_FLAG, &psp_),
              fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_CR));
  EXPECT_THAT(dat_psp_create_any(ia, &qualifier, evd_, static_cast<DAT_PSP_FLAGS>(5), &psp_),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
  EXPECT_THAT(dat_psp_create_any(ia, &qualifier, evd_, DAT_PSP_CONSUMER_FLAG, nullptr),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5));
}

class Cr : public testing::Test {
 protected:
  void SetUp() override {
    require(client_.connect(server_, server_.listen(), "private"), "dat_ep_connect");
    cr_ = server_.next_request();
  }

  Peer server_{kServerName};
  Peer client_{kClientName};
  DAT_CR_HANDLE cr_ = DAT_HANDLE_NULL;
};

TEST_F(Cr, QueryTellsWhoAsksAndWhat) {
  DAT_CR_PARAM param{};
  ASSERT_THAT(dat_cr_query(cr_, DAT_CR_FIELD_ALL, &param), succeeds());
  ASSERT_NE(param.remote_ia_address_ptr, nullptr);
  const auto* remote = reinterpret_cast<const sockaddr_in*>(param.remote_ia_address_ptr);
  const auto* client = reinterpret_cast<const sockaddr_in*>(client_.adapter.address());
  EXPECT_EQ(remote->sin_family, AF_INET);
  EXPECT_EQ(remote->sin_addr.s_addr, client->sin_addr.s_addr);
  EXPECT_EQ(param.local_ep_handle, DAT_HANDLE_NULL);
  ASSERT_EQ(param.private_data_size, 7);
  EXPECT_EQ(std::memcmp(param.private_data, "private", 7), 0);
}

// Existing programs ask with the smaller mask of another object.
TEST_F(Cr, QueryWithAPartOfTheMaskStillTellsThePrivateData) {
  DAT_CR_PARAM param{};
  ASSERT_THAT(dat_cr_query(cr_, static_cast<DAT_CR_PARAM_MASK>(0x0f), &param), succeeds());
  EXPECT_EQ(param.private_data_size, 7);
}

// ... and change the private data in place before they hand it back.
TEST_F(Cr, PrivateDataMayBeModifiedAndGivenBack) {
  DAT_CR_PARAM param{};
  ASSERT_THAT(dat_cr_query(cr_, DAT_CR_FIELD_ALL, &param), succeeds());
  static_cast<char*>(param.private_data)[0] = 'P';
  ASSERT_THAT(dat_cr_accept(cr_, server_.ep, param.private_data_size, param.private_data), succeeds());
  const auto data = next_event(client_.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED).event_data.connect_event_data;
  ASSERT_EQ(data.private_data_size, 7);
  EXPECT_EQ(std::memcmp(data.private_data, "Private", 7), 0);
}

TEST_F(Cr, QueryRefusesUnknownBitsAndNull) {
  DAT_CR_PARAM param{};
  EXPECT_THAT(dat_cr_query(cr_, static_cast<DAT_CR_PARAM_MASK>(0x100), &param),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  EXPECT_THAT(dat_cr_query(cr_, DAT_CR_FIELD_ALL, nullptr), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
}

TEST_F(Cr, AcceptRefusesBadArgumentsAndStaysAnswerable) {
  char data[8] = {};
  EXPECT_THAT(dat_cr_accept(cr_, DAT_HANDLE_NULL, 0, nullptr), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
  EXPECT_THAT(dat_cr_accept(cr_, server_.recv_evd, 0, nullptr), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
  EXPECT_THAT(dat_cr_accept(cr_, server_.ep, -1, data), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  EXPECT_THAT(dat_cr_accept(cr_, server_.ep, 0x7fffffff, data), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  EXPECT_THAT(dat_cr_accept(cr_, server_.ep, 8, nullptr), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
  EXPECT_EQ(server_.state(), DAT_EP_STATE_UNCONNECTED);
  EXPECT_THAT(dat_cr_accept(cr_, server_.ep, 0, nullptr), succeeds());
  EXPECT_EQ(next_event(client_.connect_evd).event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
}

// An endpoint that is busy itself cannot take the request, and goes on undisturbed.
TEST_F(Cr, AcceptOnAnEndpointThatIsConnectingIsRefused) {
  Peer third(kServerName);
  ASSERT_THAT(third.connect(client_, client_.listen()), succeeds());
  EXPECT_THAT(dat_cr_accept(cr_, third.ep, 0, nullptr),
              fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_ACTCONNPENDING));
  EXPECT_EQ(third.state(), DAT_EP_STATE_ACTIVE_CONNECTION_PENDING);
  ASSERT_THAT(reject_cr(client_.next_request()), succeeds());
  next_event(third.connect_evd, DAT_CONNECTION_EVENT_PEER_REJECTED);
  EXPECT_THAT(dat_cr_accept(cr_, server_.ep, 0, nullptr), succeeds());
}

TEST_F(Cr, AcceptOnAConnectedEndpointIsRefused) {
  ASSERT_THAT(dat_cr_accept(cr_, server_.ep, 0, nullptr), succeeds());
  next_event(client_.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  next_event(server_.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  Peer second(kClientName);
  server_.stop_listening();
  ASSERT_THAT(second.connect(server_, server_.listen()), succeeds());
  EXPECT_THAT(dat_cr_accept(server_.next_request(), server_.ep, 0, nullptr),
              fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_CONNECTED));
  expect_conversation(server_, client_);
}

// A provider's endpoint has no zone and no dispatchers until the consumer gives it some.
TEST_F(Psp, ProvidersEndpointIsConfiguredAndAccepted) {
  Peer server(kServerName);
  Peer client(kClientName);
  ASSERT_THAT(dat_psp_create(server.adapter.handle(), qualifier_, server.cr_evd, DAT_PSP_PROVIDER_FLAG, &psp_),
              succeeds());
  ASSERT_THAT(client.connect(server, qualifier_), succeeds());
  const DAT_CR_HANDLE cr = server.next_request();
  DAT_CR_PARAM asked{};
  ASSERT_THAT(dat_cr_query(cr, DAT_CR_FIELD_ALL, &asked), succeeds());
  DAT_EP_PARAM param{};
  ASSERT_THAT(dat_ep_query(asked.local_ep_handle, DAT_EP_FIELD_ALL, &param), succeeds());
  EXPECT_EQ(param.pz_handle, DAT_HANDLE_NULL);
  EXPECT_EQ(param.recv_evd_handle, DAT_HANDLE_NULL);
  EXPECT_EQ(param.connect_evd_handle, DAT_HANDLE_NULL);
  param.pz_handle = server.pz;
  param.recv_evd_handle = server.recv_evd;
  param.request_evd_handle = server.request_evd;
  param.connect_evd_handle = server.connect_evd;
  ASSERT_THAT(dat_ep_modify(asked.local_ep_handle,
                            DAT_EP_FIELD_PZ_HANDLE | DAT_EP_FIELD_RECV_EVD_HANDLE | DAT_EP_FIELD_REQUEST_EVD_HANDLE |
                                DAT_EP_FIELD_CONNECT_EVD_HANDLE,
                            &param),
              succeeds());
  ASSERT_THAT(dat_cr_accept(cr, DAT_HANDLE_NULL, 0, nullptr), succeeds());
  next_event(client.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  next_event(server.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  server.ep = asked.local_ep_handle;
  expect_conversation(server, client);
}

class Rsp : public testing::Test {
 protected:
  DAT_RETURN create(DAT_EP_HANDLE ep) {
    return dat_rsp_create(server_.adapter.handle(), qualifier_, ep, server_.cr_evd, &rsp_);
  }

  Peer server_{kServerName};
  Peer client_{kClientName};
  DAT_CONN_QUAL qualifier_ = unused_qualifier();
  DAT_RSP_HANDLE rsp_ = DAT_HANDLE_NULL;
};

TEST_F(Rsp, QueryTellsWhatItWasMadeWith) {
  ASSERT_THAT(create(server_.ep), succeeds());
  DAT_RSP_PARAM param{};
  ASSERT_THAT(dat_rsp_query(rsp_, DAT_RSP_FIELD_ALL, &param), succeeds());
  EXPECT_EQ(param.ia_handle, server_.adapter.handle());
  EXPECT_EQ(param.conn_qual, qualifier_);
  EXPECT_EQ(param.evd_handle, server_.cr_evd);
  EXPECT_EQ(param.ep_handle, server_.ep);
  EXPECT_THAT(dat_rsp_query(rsp_, static_cast<DAT_RSP_PARAM_MASK>(0x100), &param),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  EXPECT_THAT(dat_rsp_query(rsp_, DAT_RSP_FIELD_ALL, nullptr), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
}

// "The value DAT_HANDLE_NULL requests the Provider to associate a Provider-created Endpoint with this Service Point."
TEST_F(Rsp, ProvidersEndpointComesWithItsOneRequest) {
  ASSERT_THAT(create(DAT_HANDLE_NULL), succeeds());
  ASSERT_THAT(client_.connect(server_, qualifier_), succeeds());
  const auto arrival = next_event(server_.cr_evd, DAT_CONNECTION_REQUEST_EVENT).event_data.cr_arrival_event_data;
  EXPECT_EQ(arrival.sp_handle.rsp_handle, rsp_);
  DAT_CR_PARAM asked{};
  ASSERT_THAT(dat_cr_query(arrival.cr_handle, DAT_CR_FIELD_ALL, &asked), succeeds());
  DAT_EP_STATE state = DAT_EP_STATE_UNCONNECTED;
  ASSERT_THAT(dat_ep_get_status(asked.local_ep_handle, &state, nullptr, nullptr), succeeds());
  EXPECT_EQ(state, DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING);
  // "... generates, at most, one Connection Request"
  Peer late(kClientName);
  ASSERT_THAT(late.connect(server_, qualifier_), succeeds());
  next_event(late.connect_evd, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
  ASSERT_THAT(reject_cr(arrival.cr_handle), succeeds());
  next_event(client_.connect_evd, DAT_CONNECTION_EVENT_PEER_REJECTED);
  EXPECT_THAT(dat_ep_free(asked.local_ep_handle), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
  EXPECT_TRUE(is_quiet(server_.cr_evd));
  EXPECT_THAT(dat_rsp_free(rsp_), succeeds());
}

// The request names the service point; accepting it with a null endpoint takes the reserved one.
TEST_F(Rsp, ReservedEndpointIsAccepted) {
  ASSERT_THAT(create(server_.ep), succeeds());
  ASSERT_THAT(client_.connect(server_, qualifier_), succeeds());
  const auto arrival = next_event(server_.cr_evd, DAT_CONNECTION_REQUEST_EVENT).event_data.cr_arrival_event_data;
  EXPECT_EQ(arrival.sp_handle.rsp_handle, rsp_);
  ASSERT_THAT(dat_cr_accept(arrival.cr_handle, DAT_HANDLE_NULL, 0, nullptr), succeeds());
  next_event(client_.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  next_event(server_.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  expect_conversation(server_, client_);
  EXPECT_THAT(dat_rsp_free(rsp_), succeeds());
}

TEST_F(Rsp, QualifierInUseAndBusyEndpointAreRefused) {
  ASSERT_THAT(create(server_.ep), succeeds());
  DAT_RSP_HANDLE second = DAT_HANDLE_NULL;
  EXPECT_THAT(dat_rsp_create(server_.adapter.handle(), unused_qualifier(), server_.ep, server_.cr_evd, &second),
              fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_RESERVED));
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  EXPECT_THAT(dat_psp_create(server_.adapter.handle(), qualifier_, server_.cr_evd, DAT_PSP_CONSUMER_FLAG, &psp),
              fails_with(DAT_CONN_QUAL_IN_USE));
}

TEST_F(Rsp, FreedServicePointIsInvalid) {
  ASSERT_THAT(create(server_.ep), succeeds());
  EXPECT_THAT(dat_rsp_free(rsp_), succeeds());
  EXPECT_THAT(dat_rsp_free(rsp_), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_RSP));
}

TEST_F(Cr, RejectedPeerHearsItOnce) {
  ASSERT_THAT(reject_cr(cr_), succeeds());
  next_event(client_.connect_evd, DAT_CONNECTION_EVENT_PEER_REJECTED);
  EXPECT_TRUE(is_quiet(client_.connect_evd));
  EXPECT_TRUE(is_quiet(server_.connect_evd));
}

}  // namespace
}  // namespace softdat::conformance
