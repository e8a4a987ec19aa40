// SPDX-License-Identifier: BSD-2-Clause
// dat_ep_create, dat_ep_query, dat_ep_modify, dat_ep_free.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/conformance/peer.h"

namespace softdat::conformance {
namespace {

DAT_EP_PARAM query(DAT_EP_HANDLE ep) {
  DAT_EP_PARAM param{};
  require(dat_ep_query(ep, DAT_EP_FIELD_ALL, &param), "dat_ep_query");
  return param;
}

class Ep : public testing::Test {
 protected:
  DAT_RETURN create(const DAT_EP_ATTR* attributes, DAT_EP_HANDLE* ep) {
    return dat_ep_create(peer_.adapter.handle(), peer_.pz, peer_.recv_evd, peer_.request_evd, peer_.connect_evd,
                         attributes, ep);
  }

  Peer peer_{kServerName};
};

TEST_F(Ep, QueryTellsWhatItWasMadeWith) {
  const DAT_EP_PARAM param = query(peer_.ep);
  EXPECT_EQ(param.ia_handle, peer_.adapter.handle());
  EXPECT_EQ(param.ep_state, DAT_EP_STATE_UNCONNECTED);
  EXPECT_EQ(param.pz_handle, peer_.pz);
  EXPECT_EQ(param.recv_evd_handle, peer_.recv_evd);
  EXPECT_EQ(param.request_evd_handle, peer_.request_evd);
  EXPECT_EQ(param.connect_evd_handle, peer_.connect_evd);
  EXPECT_EQ(param.srq_handle, DAT_HANDLE_NULL);
  EXPECT_NE(param.local_ia_address_ptr, nullptr);
  EXPECT_GE(param.ep_attr.max_recv_dtos, 32);
  EXPECT_GE(param.ep_attr.max_request_dtos, 32);
  EXPECT_GE(param.ep_attr.max_recv_iov, 4);
}

TEST_F(Ep, QueryRefusesUnknownBitsAndNull) {
  DAT_EP_PARAM param{};
  EXPECT_THAT(dat_ep_query(peer_.ep, ~DAT_EP_FIELD_ALL, &param), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  EXPECT_THAT(dat_ep_query(peer_.ep, DAT_EP_FIELD_ALL, nullptr), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
}

// Without attributes the provider picks defaults good enough for what programs do without asking.
TEST_F(Ep, NullAttributesGiveUsableDefaults) {
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  ASSERT_THAT(create(nullptr, &ep), succeeds());
  const DAT_EP_PARAM param = query(ep);
  EXPECT_EQ(param.ep_attr.service_type, DAT_SERVICE_TYPE_RC);
  EXPECT_GE(param.ep_attr.max_recv_dtos, 16);
  EXPECT_GE(param.ep_attr.max_request_dtos, 16);
  EXPECT_GE(param.ep_attr.max_recv_iov, 4);
  EXPECT_GE(param.ep_attr.max_request_iov, 4);
  EXPECT_GE(param.ep_attr.max_rdma_read_in, 1);
  EXPECT_GE(param.ep_attr.max_rdma_read_out, 1);
}

TEST_F(Ep, QueriedAttributesAreAcceptedBack) {
  DAT_EP_HANDLE first = DAT_HANDLE_NULL;
  ASSERT_THAT(create(nullptr, &first), succeeds());
  DAT_EP_ATTR attributes = query(first).ep_attr;
  attributes.max_recv_dtos += 8;
  attributes.max_request_dtos += 8;
  DAT_EP_HANDLE second = DAT_HANDLE_NULL;
  EXPECT_THAT(create(&attributes, &second), succeeds());
}

// Sizes are hints; zero means that the consumer did not say.
TEST_F(Ep, SizeAttributesAreHints) {
  for (const SegmentLength size : {SegmentLength{0}, SegmentLength{0x10000}, SegmentLength{0x80000000u}}) {
    DAT_EP_ATTR attributes = default_attributes();
    attributes.max_message_size = size;
    attributes.max_rdma_size = size;
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    EXPECT_THAT(create(&attributes, &ep), succeeds()) << size;
  }
}

TEST_F(Ep, ManyRequestsCanBeAskedFor) {
  DAT_EP_ATTR attributes = default_attributes();
  attributes.max_request_dtos = std::min(50000, peer_.adapter.attributes().max_dto_per_ep);
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  EXPECT_THAT(create(&attributes, &ep), succeeds());
}

TEST_F(Ep, AttributesBeyondTheAdaptersAreInvalid) {
  const DAT_IA_ATTR limits = peer_.adapter.attributes();
  for (DAT_COUNT DAT_EP_ATTR::*field : {&DAT_EP_ATTR::max_recv_dtos, &DAT_EP_ATTR::max_request_dtos,
                                        &DAT_EP_ATTR::max_recv_iov, &DAT_EP_ATTR::max_request_iov}) {
    for (const DAT_COUNT wild : {-1, 0x7fffffff}) {
      DAT_EP_ATTR attributes = default_attributes();
      attributes.*field = wild;
      DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
      EXPECT_THAT(create(&attributes, &ep), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6)) << wild;
      EXPECT_EQ(ep, DAT_HANDLE_NULL);
    }
  }
  DAT_EP_ATTR attributes = default_attributes();
  attributes.max_recv_dtos = limits.max_dto_per_ep + 1;
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  EXPECT_THAT(create(&attributes, &ep), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6));
}

TEST_F(Ep, UnknownServiceTypeAndFlagsAreInvalid) {
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  DAT_EP_ATTR attributes = default_attributes();
  attributes.service_type = static_cast<DAT_SERVICE_TYPE>(77);
  EXPECT_THAT(create(&attributes, &ep),
              testing::AnyOf(fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6), fails_with(DAT_MODEL_NOT_SUPPORTED)));
  attributes = default_attributes();
  attributes.recv_completion_flags = static_cast<DAT_COMPLETION_FLAGS>(0x4000);
  EXPECT_THAT(create(&attributes, &ep), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6));
  attributes = default_attributes();
  attributes.request_completion_flags = static_cast<DAT_COMPLETION_FLAGS>(0x4000);
  EXPECT_THAT(create(&attributes, &ep), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6));
}

TEST_F(Ep, NullOutputIsInvalid) {
  EXPECT_THAT(create(nullptr, nullptr), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG7));
}

TEST_F(Ep, DispatchersMayBeNullForThoseNotInterested) {
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  EXPECT_THAT(
      dat_ep_create(peer_.adapter.handle(), peer_.pz, DAT_HANDLE_NULL, DAT_HANDLE_NULL, DAT_HANDLE_NULL, nullptr, &ep),
      succeeds());
  EXPECT_THAT(dat_ep_free(ep), succeeds());
}

// A dispatcher must take the stream that it shall be fed.
TEST_F(Ep, DispatchersMustFitTheirStreams) {
  const DAT_EVD_HANDLE wrong = peer_.cr_evd;
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  const DAT_IA_HANDLE ia = peer_.adapter.handle();
  EXPECT_THAT(dat_ep_create(ia, peer_.pz, wrong, peer_.request_evd, peer_.connect_evd, nullptr, &ep),
              fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_RECV));
  EXPECT_THAT(dat_ep_create(ia, peer_.pz, peer_.recv_evd, wrong, peer_.connect_evd, nullptr, &ep),
              fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_REQUEST));
  EXPECT_THAT(dat_ep_create(ia, peer_.pz, peer_.recv_evd, peer_.request_evd, wrong, nullptr, &ep),
              fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_CONN));
}

TEST_F(Ep, ZoneMustBeAlive) {
  const DAT_PZ_HANDLE pz = peer_.adapter.make_pz();
  ASSERT_THAT(dat_pz_free(pz), succeeds());
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  EXPECT_THAT(
      dat_ep_create(peer_.adapter.handle(), pz, peer_.recv_evd, peer_.request_evd, peer_.connect_evd, nullptr, &ep),
      fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ));
}

// Programs use a connection dispatcher of another opening of the same adapter.
// A zone can be taken away and given back; in between nothing can be received or connected.
TEST_F(Ep, WithoutAZoneNothingIsPostedOrConnected) {
  DAT_EP_PARAM param = query(peer_.ep);
  param.pz_handle = DAT_HANDLE_NULL;
  ASSERT_THAT(dat_ep_modify(peer_.ep, DAT_EP_FIELD_PZ_HANDLE, &param), succeeds());
  const auto refused = fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_PZ);
  EXPECT_THAT(peer_.post_recv(0, 64), refused);
  EXPECT_THAT(peer_.connect(peer_, unused_qualifier()), refused);
  EXPECT_THAT(peer_.post_send(0, 64), fails_with(DAT_INVALID_STATE));
  EXPECT_EQ(peer_.state(), DAT_EP_STATE_UNCONNECTED);
  param.pz_handle = peer_.pz;
  ASSERT_THAT(dat_ep_modify(peer_.ep, DAT_EP_FIELD_PZ_HANDLE, &param), succeeds());
  EXPECT_THAT(peer_.post_recv(0, 64), succeeds());
}

TEST_F(Ep, ConnectionDispatcherMayBelongToAnotherOpening) {
  Adapter other(kServerName);
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  EXPECT_THAT(dat_ep_create(peer_.adapter.handle(), peer_.pz, peer_.recv_evd, peer_.request_evd,
                            other.make_evd(DAT_EVD_CONNECTION_FLAG), nullptr, &ep),
              succeeds());
  EXPECT_THAT(dat_ep_free(ep), succeeds());
}

TEST_F(Ep, ModifyChangesWhatTheMaskNames) {
  DAT_EP_PARAM param = query(peer_.ep);
  param.ep_attr.max_recv_dtos = 48;
  param.ep_attr.max_request_dtos = 1;  // not named by the mask
  const DAT_PZ_HANDLE pz = peer_.adapter.make_pz();
  param.pz_handle = pz;
  ASSERT_THAT(dat_ep_modify(peer_.ep, DAT_EP_FIELD_PZ_HANDLE | DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, &param), succeeds());
  const DAT_EP_PARAM now = query(peer_.ep);
  EXPECT_EQ(now.pz_handle, pz);
  EXPECT_GE(now.ep_attr.max_recv_dtos, 48);
  EXPECT_GE(now.ep_attr.max_request_dtos, 32);
  EXPECT_THAT(dat_pz_free(pz), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_PZ_IN_USE));
}

TEST_F(Ep, ModifyExchangesDispatchers) {
  DAT_EP_PARAM param = query(peer_.ep);
  param.recv_evd_handle = peer_.adapter.make_evd(DAT_EVD_DTO_FLAG);
  param.request_evd_handle = peer_.adapter.make_evd(DAT_EVD_DTO_FLAG);
  param.connect_evd_handle = peer_.adapter.make_evd(DAT_EVD_CONNECTION_FLAG);
  const DAT_EP_PARAM_MASK mask =
      DAT_EP_FIELD_RECV_EVD_HANDLE | DAT_EP_FIELD_REQUEST_EVD_HANDLE | DAT_EP_FIELD_CONNECT_EVD_HANDLE;
  ASSERT_THAT(dat_ep_modify(peer_.ep, mask, &param), succeeds());
  for (const DAT_EVD_HANDLE evd : {peer_.recv_evd, peer_.request_evd, peer_.connect_evd})
    EXPECT_THAT(dat_evd_free(evd), succeeds());
  EXPECT_EQ(query(peer_.ep).recv_evd_handle, param.recv_evd_handle);
}

TEST_F(Ep, WhatIdentifiesTheEndpointCannotBeModified) {
  const DAT_EP_PARAM param = query(peer_.ep);
  for (const DAT_EP_PARAM_MASK field :
       {DAT_EP_FIELD_IA_HANDLE, DAT_EP_FIELD_EP_STATE, DAT_EP_FIELD_LOCAL_IA_ADDRESS_PTR, DAT_EP_FIELD_LOCAL_PORT_QUAL,
        DAT_EP_FIELD_REMOTE_IA_ADDRESS_PTR, DAT_EP_FIELD_REMOTE_PORT_QUAL})
    EXPECT_THAT(dat_ep_modify(peer_.ep, field, &param), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2)) << field;
}

TEST_F(Ep, ModifyRefusesUnknownBitsNullAndWildValues) {
  DAT_EP_PARAM param = query(peer_.ep);
  EXPECT_THAT(dat_ep_modify(peer_.ep, ~DAT_EP_FIELD_ALL, &param), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  EXPECT_THAT(dat_ep_modify(peer_.ep, DAT_EP_FIELD_PZ_HANDLE, nullptr),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  param.ep_attr.max_recv_dtos = -5;
  EXPECT_THAT(dat_ep_modify(peer_.ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, &param),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  param.pz_handle = peer_.recv_evd;
  EXPECT_THAT(dat_ep_modify(peer_.ep, DAT_EP_FIELD_PZ_HANDLE, &param),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  EXPECT_EQ(query(peer_.ep).pz_handle, peer_.pz);
}

TEST_F(Ep, ConnectedEndpointCannotBeModified) {
  Peer client(kClientName);
  establish(peer_, client);
  DAT_EP_PARAM param = query(peer_.ep);
  for (const DAT_EP_PARAM_MASK field :
       {DAT_EP_FIELD_PZ_HANDLE, DAT_EP_FIELD_RECV_EVD_HANDLE, DAT_EP_FIELD_REQUEST_EVD_HANDLE,
        DAT_EP_FIELD_CONNECT_EVD_HANDLE, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_IOV})
    EXPECT_THAT(dat_ep_modify(peer_.ep, field, &param), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_CONNECTED))
        << field;
  expect_conversation(peer_, client);
}

TEST_F(Ep, FreedEndpointIsInvalid) {
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  ASSERT_THAT(create(nullptr, &ep), succeeds());
  EXPECT_THAT(dat_ep_free(ep), succeeds());
  EXPECT_THAT(dat_ep_free(ep), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
  DAT_EP_PARAM param{};
  EXPECT_THAT(dat_ep_query(ep, DAT_EP_FIELD_ALL, &param), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
  EXPECT_THAT(dat_ep_reset(ep), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
}

TEST_F(Ep, EndpointWithPostedReceivesCanBeFreed) {
  for (int i = 0; i < 4; ++i) ASSERT_THAT(peer_.post_recv(0, 64), succeeds());
  ASSERT_THAT(dat_ep_free(peer_.ep), succeeds());
  peer_.ep = DAT_HANDLE_NULL;
  drain(peer_.recv_evd);
  peer_.memory->deregister();
  EXPECT_THAT(dat_evd_free(peer_.recv_evd), succeeds());
  EXPECT_THAT(dat_pz_free(peer_.pz), succeeds());
}

TEST_F(Ep, FreeingAbortsTheConnectionRequest) {
  Peer client(kClientName);
  ASSERT_THAT(client.connect(peer_, peer_.listen()), succeeds());
  const DAT_CR_HANDLE cr = peer_.next_request();
  ASSERT_THAT(dat_ep_free(client.ep), succeeds());
  client.ep = DAT_HANDLE_NULL;
  // The request is still there to be answered; what comes of it is told as an accept that failed,
  // or is refused at once.
  const DAT_RETURN result = dat_cr_accept(cr, peer_.ep, 0, nullptr);
  if (result == DAT_SUCCESS) {
    // On a wire the answer may have left before the news came: then a connection that ends at once.
    DAT_EVENT event = next_event(peer_.connect_evd);
    if (event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED) event = next_event(peer_.connect_evd);
    EXPECT_THAT(event.event_number, testing::AnyOf(DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR,
                                                   DAT_CONNECTION_EVENT_DISCONNECTED, DAT_CONNECTION_EVENT_BROKEN));
  } else {
    EXPECT_EQ(peer_.state(), DAT_EP_STATE_UNCONNECTED);
  }
}

TEST_F(Ep, FreeingAConnectedEndpointEndsTheConnection) {
  Peer client(kClientName);
  establish(peer_, client);
  ASSERT_THAT(peer_.post_recv(0, 64, 3), succeeds());
  ASSERT_THAT(dat_ep_free(client.ep), succeeds());
  client.ep = DAT_HANDLE_NULL;
  EXPECT_THAT(next_event(peer_.connect_evd).event_number,
              testing::AnyOf(DAT_CONNECTION_EVENT_DISCONNECTED, DAT_CONNECTION_EVENT_BROKEN));
  EXPECT_EQ(next_completion(peer_.recv_evd).status, DAT_DTO_ERR_FLUSHED);
  EXPECT_EQ(peer_.state(), DAT_EP_STATE_DISCONNECTED);
}

TEST_F(Ep, ThousandEndpointsFit) {
  for (int i = 0; i < 1000; ++i) {
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    ASSERT_THAT(create(nullptr, &ep), succeeds()) << i;
  }
}

}  // namespace
}  // namespace softdat::conformance
