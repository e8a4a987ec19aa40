// SPDX-License-Identifier: BSD-2-Clause
// dat_ep_create_with_srq, dat_ep_recv_query, dat_ep_set_watermark.
#include <gtest/gtest.h>

#include "tests/conformance/lacks.h"
#include "tests/conformance/shared_server.h"

namespace softdat::conformance {
namespace {

class EpWithSrq : public testing::Test {
 protected:
  DAT_RETURN create(const DAT_EP_ATTR& attributes, DAT_EP_HANDLE& ep) {
    Peer& peer = server_.peer;
    return dat_ep_create_with_srq(peer.adapter.handle(), peer.pz, peer.recv_evd, peer.request_evd, peer.connect_evd,
                                  server_.srq, &attributes, &ep);
  }
  static DAT_EP_PARAM query(DAT_EP_HANDLE ep) {
    DAT_EP_PARAM param{};
    require(dat_ep_query(ep, DAT_EP_FIELD_ALL, &param), "dat_ep_query");
    return param;
  }

  SharedServer server_;
};

TEST_F(EpWithSrq, IsUnconnectedAndNamesItsQueue) {
  const DAT_EP_PARAM param = query(server_.make_endpoint());
  EXPECT_EQ(param.ep_state, DAT_EP_STATE_UNCONNECTED);
  EXPECT_EQ(param.srq_handle, server_.srq);
  EXPECT_EQ(query(server_.peer.ep).srq_handle, DAT_HANDLE_NULL);
}

TEST_F(EpWithSrq, HasTheAttributesThatWereAskedFor) {
  DAT_EP_ATTR wanted = default_attributes();
  wanted.max_recv_dtos = 5;
  wanted.max_rdma_read_in = 2;
  wanted.max_rdma_read_out = 3;
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  ASSERT_THAT(create(wanted, ep), succeeds());
  const DAT_EP_ATTR got = query(ep).ep_attr;
  EXPECT_GE(got.max_request_dtos, wanted.max_request_dtos);
  EXPECT_GE(got.max_request_iov, wanted.max_request_iov);
  EXPECT_EQ(got.max_recv_dtos, 5);
  EXPECT_EQ(got.max_message_size, wanted.max_message_size);
  EXPECT_EQ(got.max_rdma_size, wanted.max_rdma_size);
  EXPECT_EQ(got.max_rdma_read_in, 2);
  EXPECT_EQ(got.max_rdma_read_out, 3);
}

TEST_F(EpWithSrq, MaxRecvIovIsIgnored) {
  DAT_EP_ATTR wanted = default_attributes();
  wanted.max_recv_iov = 0x7fffffff;
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  EXPECT_THAT(create(wanted, ep), succeeds());
}

TEST_F(EpWithSrq, BadAttributesAreInvalid) {
  const auto refused = fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG7);
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  DAT_EP_ATTR wanted = default_attributes();
  wanted.max_rdma_read_iov = server_.peer.adapter.attributes().max_iov_segments_per_rdma_read + 1000;
  EXPECT_THAT(create(wanted, ep), refused);
  wanted = default_attributes();
  wanted.max_request_dtos = -1;
  EXPECT_THAT(create(wanted, ep), refused);
  EXPECT_EQ(ep, DAT_HANDLE_NULL);
  EXPECT_THAT(dat_srq_free(server_.srq), succeeds());  // nobody uses it
}

TEST_F(EpWithSrq, NullAttributesAndOutputAreInvalid) {
  Peer& peer = server_.peer;
  const DAT_EP_ATTR wanted = default_attributes();
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  EXPECT_THAT(dat_ep_create_with_srq(peer.adapter.handle(), peer.pz, peer.recv_evd, peer.request_evd, peer.connect_evd,
                                     server_.srq, nullptr, &ep),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG7));
  EXPECT_THAT(dat_ep_create_with_srq(peer.adapter.handle(), peer.pz, peer.recv_evd, peer.request_evd, peer.connect_evd,
                                     server_.srq, &wanted, nullptr),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG8));
}

TEST_F(EpWithSrq, CompletionFlagsMayDifferFromTheDispatchersOtherStreams) {
  server_.make_endpoint();
  DAT_EP_ATTR wanted = default_attributes();
  wanted.recv_completion_flags = DAT_COMPLETION_SOLICITED_WAIT_FLAG;
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  EXPECT_THAT(create(wanted, ep), succeeds());
}

TEST_F(EpWithSrq, AQueueOfAnotherAdapterIsInvalid) {
  Peer stranger(kClientName);
  DAT_SRQ_ATTR attributes = srq_attributes(8);
  DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
  ASSERT_THAT(dat_srq_create(stranger.adapter.handle(), stranger.pz, &attributes, &srq), succeeds());
  server_.srq = srq;
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  EXPECT_THAT(create(default_attributes(), ep), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ));
}

// Each opening is its own IA, also where both are of one adapter.
TEST_F(EpWithSrq, AQueueOfAnotherOpeningServesUntilTheEndpointEnds) {
  if (const Lack lack = lack_of_simulation(); !lack.empty()) GTEST_SKIP() << lack;
  Adapter other;
  const DAT_PZ_HANDLE pz = other.make_pz();
  Memory memory(other.handle(), pz, 4096);
  DAT_SRQ_ATTR attributes = srq_attributes(8);
  DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
  ASSERT_THAT(dat_srq_create(other.handle(), pz, &attributes, &srq), succeeds());
  DAT_LMR_TRIPLET segment = memory.local(0, 64);
  ASSERT_THAT(dat_srq_post_recv(srq, 1, &segment, make_cookie(1)), succeeds());
  server_.srq = srq;
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  ASSERT_THAT(create(default_attributes(), ep), succeeds());
  ASSERT_THAT(dat_ia_close(other.handle(), DAT_CLOSE_ABRUPT_FLAG), succeeds());
  other.release();
  EXPECT_THAT(dat_srq_post_recv(srq, 1, &segment, make_cookie(2)),
              fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ));
  EXPECT_THAT(dat_ep_free(ep), succeeds());
}

TEST_F(EpWithSrq, TakesNoReceivesItself) {
  Peer& peer = server_.peer;
  const DAT_EP_HANDLE ep = server_.make_endpoint();
  DAT_LMR_TRIPLET segment = peer.memory->local(0, 64);
  EXPECT_THAT(dat_ep_post_recv(ep, 1, &segment, make_cookie(1), DAT_COMPLETION_DEFAULT_FLAG),
              fails_with(DAT_INVALID_STATE));
  EXPECT_TRUE(is_quiet(peer.recv_evd));
}

TEST_F(EpWithSrq, ItsQueueCannotBeChanged) {
  DAT_EP_PARAM param{};
  EXPECT_THAT(dat_ep_modify(server_.make_endpoint(), DAT_EP_FIELD_SRQ_HANDLE, &param),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
}

TEST_F(EpWithSrq, ResettingKeepsTheQueue) {
  Peer& client = server_.connect_client();
  const DAT_EP_HANDLE ep = server_.endpoints[0];
  ASSERT_THAT(dat_ep_disconnect(ep, DAT_CLOSE_ABRUPT_FLAG), succeeds());
  next_event(server_.peer.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED);
  next_event(client.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED);
  ASSERT_THAT(dat_ep_reset(ep), succeeds());
  ASSERT_THAT(dat_ep_reset(client.ep), succeeds());
  EXPECT_EQ(query(ep).srq_handle, server_.srq);
  server_.peer.ep = ep;
  establish(server_.peer, client);
  server_.post_many(1);
  EXPECT_EQ(server_.take(0).ep_handle, ep);
}

TEST_F(EpWithSrq, ZoneMayDifferFromTheQueues) {
  if (const Lack lack = lack_of_refusals(); !lack.empty()) GTEST_SKIP() << lack;
  DAT_PROVIDER_ATTR provider{};
  require(dat_ia_query(server_.peer.adapter.handle(), nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &provider),
          "dat_ia_query");
  EXPECT_EQ(provider.srq_ep_pz_difference_supported, DAT_TRUE);
  const DAT_PZ_HANDLE queues = server_.peer.pz;
  server_.peer.pz = server_.peer.adapter.make_pz();
  Peer& client = server_.connect_client();
  server_.peer.pz = queues;
  ASSERT_THAT(server_.post(0, 64, 1), succeeds());
  client.memory->fill(0, 64, 3);
  ASSERT_THAT(client.post_send(0, 64), succeeds());
  EXPECT_EQ(next_completion(server_.peer.recv_evd).status, DAT_DTO_SUCCESS);
  EXPECT_TRUE(server_.peer.memory->holds(0, 64, 3));
  next_completion(client.request_evd);
  // What the peer may write is the endpoint's own zone's matter.
  ASSERT_THAT(client.post_write(0, 64, server_.peer.memory->remote(0, 64)), succeeds());
  EXPECT_EQ(next_completion(client.request_evd).status, DAT_DTO_ERR_REMOTE_ACCESS);
}

TEST_F(EpWithSrq, SendsAndWritesAsAnyOther) {
  Peer& client = server_.connect_client();
  server_.peer.ep = server_.endpoints[0];
  ASSERT_THAT(client.post_recv(0, 64, 1), succeeds());
  ASSERT_THAT(server_.peer.post_send(0, 64, 2), succeeds());
  EXPECT_EQ(next_completion(client.recv_evd).status, DAT_DTO_SUCCESS);
  EXPECT_EQ(next_completion(server_.peer.request_evd).status, DAT_DTO_SUCCESS);
  ASSERT_THAT(server_.peer.post_write(0, 64, client.memory->remote(0, 64)), succeeds());
  EXPECT_EQ(next_completion(server_.peer.request_evd).status, DAT_DTO_SUCCESS);
}

// OFED's programs wait for it before they free the queue.
TEST_F(EpWithSrq, TheEndOfItsConnectionIsToldAsynchronouslyToo) {
  for (const DAT_CLOSE_FLAGS how : {DAT_CLOSE_ABRUPT_FLAG, DAT_CLOSE_GRACEFUL_FLAG}) {
    Peer& client = server_.connect_client();
    ASSERT_THAT(dat_ep_disconnect(client.ep, how), succeeds());
    next_event(server_.peer.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED);
    const auto event = next_async(server_.peer.adapter, DAT_ASYNC_ERROR_EP_BROKEN, server_.endpoints.back());
    EXPECT_EQ(event.reason, DAT_EP_TRANSFER_TO_ERROR);
    EXPECT_TRUE(is_quiet(client.adapter.async_evd()));  // an endpoint with receives of its own
  }
}

class EpRecvQuery : public testing::Test {
 protected:
  static void expect_use(DAT_EP_HANDLE ep, DAT_COUNT expected) {
    DAT_COUNT allocated = -7;
    DAT_COUNT span = -7;
    ASSERT_THAT(dat_ep_recv_query(ep, &allocated, &span), succeeds());
    EXPECT_EQ(allocated, expected);
    EXPECT_GE(span, allocated);
    EXPECT_EQ(span, expected);
  }
};

TEST_F(EpRecvQuery, WithoutAQueueABufferIsAllocatedWhenPosted) {
  ConnectedPair pair;
  expect_use(pair.server.ep, 0);
  for (int i = 0; i < 3; ++i) ASSERT_THAT(pair.server.post_recv(0, 64), succeeds());
  expect_use(pair.server.ep, 3);
  ASSERT_THAT(pair.client.post_send(0, 64), succeeds());
  next_completion(pair.client.request_evd);
  expect_use(pair.server.ep, 2);  // completed, though not reaped
}

TEST_F(EpRecvQuery, WithAQueueABufferIsAllocatedWhenTaken) {
  SharedServer server;
  server.connect_client();
  server.post_many(4);
  expect_use(server.endpoints[0], 0);
  server.take(0);
  expect_use(server.endpoints[0], 0);
}

TEST_F(EpRecvQuery, EitherOutputMayBeNull) {
  Peer peer(kServerName);
  ASSERT_THAT(peer.post_recv(0, 64), succeeds());
  DAT_COUNT count = -7;
  EXPECT_THAT(dat_ep_recv_query(peer.ep, &count, nullptr), succeeds());
  EXPECT_EQ(count, 1);
  EXPECT_THAT(dat_ep_recv_query(peer.ep, nullptr, &count), succeeds());
  EXPECT_THAT(dat_ep_recv_query(peer.ep, nullptr, nullptr), succeeds());
}

TEST_F(EpRecvQuery, FreedEndpointIsAnInvalidHandle) {
  Peer peer(kServerName);
  require(dat_ep_free(peer.ep), "dat_ep_free");
  DAT_COUNT count = 0;
  EXPECT_THAT(dat_ep_recv_query(peer.ep, &count, &count), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
  EXPECT_THAT(dat_ep_set_watermark(peer.ep, 1, 1), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
}

class EpSetWatermark : public testing::Test {
 protected:
  static void post(Peer& peer, int count) {
    for (int i = 0; i < count; ++i) require(peer.post_recv(0, 64), "dat_ep_post_recv");
  }
  static void expect_soft_event(Peer& peer, DAT_EP_HANDLE ep) {
    EXPECT_EQ(next_async(peer.adapter, DAT_ASYNC_ERROR_EP_BROKEN, ep).reason, DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT);
  }
};

TEST_F(EpSetWatermark, TheSoftOneTellsOnceWhenThereAreMore) {
  ConnectedPair pair;
  ASSERT_THAT(dat_ep_set_watermark(pair.server.ep, 2, DAT_WATERMARK_INFINITE), succeeds());
  post(pair.server, 2);
  ASSERT_TRUE(is_quiet(pair.server.adapter.async_evd()));
  post(pair.server, 1);
  expect_soft_event(pair.server, pair.server.ep);
  post(pair.server, 3);
  EXPECT_TRUE(is_quiet(pair.server.adapter.async_evd()));
  EXPECT_EQ(pair.server.state(), DAT_EP_STATE_CONNECTED);
}

TEST_F(EpSetWatermark, TheSoftOneMayTellDuringTheCallAndAgainWhenSetAgain) {
  Peer peer(kServerName);  // in all states
  post(peer, 3);
  for (int round = 0; round < 3; ++round) {
    ASSERT_THAT(dat_ep_set_watermark(peer.ep, 2, DAT_WATERMARK_INFINITE), succeeds());
    expect_soft_event(peer, peer.ep);
  }
  ASSERT_THAT(dat_ep_set_watermark(peer.ep, 3, DAT_WATERMARK_INFINITE), succeeds());
  EXPECT_TRUE(is_quiet(peer.adapter.async_evd()));
}

TEST_F(EpSetWatermark, AtAnEndpointWithAQueueWhatItHasTakenCounts) {
  if (const Lack lack = lack_of_simulation(); !lack.empty()) GTEST_SKIP() << lack;
  SharedServer server;
  server.connect_client();
  server.connect_client();
  server.post_many(4);
  ASSERT_THAT(dat_ep_set_watermark(server.endpoints[0], 0, DAT_WATERMARK_INFINITE), succeeds());
  ASSERT_THAT(dat_ep_set_watermark(server.endpoints[1], 1, 1), succeeds());
  server.take(1);
  ASSERT_TRUE(is_quiet(server.peer.adapter.async_evd()));
  server.take(0);
  expect_soft_event(server.peer, server.endpoints[0]);
  server.take(0);
  EXPECT_TRUE(is_quiet(server.peer.adapter.async_evd()));
}

TEST_F(EpSetWatermark, AtAnEndpointWithAQueueTheHardOneBreaksTheConnection) {
  if (const Lack lack = lack_of_simulation(); !lack.empty()) GTEST_SKIP() << lack;
  SharedServer server;
  Peer& client = server.connect_client();
  server.connect_client();
  server.post_many(2);
  ASSERT_THAT(dat_ep_set_watermark(server.endpoints[0], DAT_WATERMARK_INFINITE, 0), succeeds());
  server.send(0);
  const DAT_EVENT event = next_event(server.peer.connect_evd, DAT_CONNECTION_EVENT_BROKEN);
  EXPECT_EQ(event.event_data.connect_event_data.ep_handle, server.endpoints[0]);
  EXPECT_EQ(next_completion(server.peer.recv_evd).status, DAT_DTO_ERR_FLUSHED);
  next_event(client.connect_evd, DAT_CONNECTION_EVENT_BROKEN);
  EXPECT_EQ(server.take(1).status, DAT_DTO_SUCCESS);
}

TEST_F(EpSetWatermark, TheHardOneBreaksTheConnectionWhenThereAreMore) {
  ConnectedPair pair;
  ASSERT_THAT(dat_ep_set_watermark(pair.server.ep, DAT_WATERMARK_INFINITE, 2), succeeds());
  post(pair.server, 2);
  EXPECT_EQ(pair.server.state(), DAT_EP_STATE_CONNECTED);
  post(pair.server, 1);
  next_event(pair.server.connect_evd, DAT_CONNECTION_EVENT_BROKEN);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(next_completion(pair.server.recv_evd).status, DAT_DTO_ERR_FLUSHED);
  next_event(pair.client.connect_evd, end_of_broken_peer());
  EXPECT_TRUE(is_quiet(pair.server.adapter.async_evd()));  // independent of the soft one
}

TEST_F(EpSetWatermark, TheHardOneMayBreakItDuringTheCall) {
  ConnectedPair pair;
  post(pair.server, 3);
  ASSERT_THAT(dat_ep_set_watermark(pair.server.ep, DAT_WATERMARK_INFINITE, 2), succeeds());
  next_event(pair.server.connect_evd, DAT_CONNECTION_EVENT_BROKEN);
}

TEST_F(EpSetWatermark, TheHardOneIsReadyAsSoonAsTheConnectionIsEstablished) {
  Peer server(kServerName);
  Peer client(kClientName);
  post(server, 1);
  ASSERT_THAT(dat_ep_set_watermark(server.ep, DAT_WATERMARK_INFINITE, 0), succeeds());
  ASSERT_THAT(client.connect(server, server.listen()), succeeds());
  ASSERT_THAT(dat_cr_accept(server.next_request(), server.ep, 0, nullptr), succeeds());
  next_event(server.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  next_event(server.connect_evd, DAT_CONNECTION_EVENT_BROKEN);
}

TEST_F(EpSetWatermark, InfiniteIsTheDefaultAndSetsNoLimit) {
  ConnectedPair pair;
  DAT_EP_PARAM param{};
  ASSERT_THAT(dat_ep_query(pair.server.ep, DAT_EP_FIELD_ALL, &param), succeeds());
  EXPECT_EQ(param.ep_attr.srq_soft_hw, DAT_WATERMARK_INFINITE);
  ASSERT_THAT(dat_ep_set_watermark(pair.server.ep, 2, 3), succeeds());
  ASSERT_THAT(dat_ep_set_watermark(pair.server.ep, DAT_WATERMARK_INFINITE, DAT_WATERMARK_INFINITE), succeeds());
  post(pair.server, 20);
  EXPECT_TRUE(is_quiet(pair.server.adapter.async_evd()));
  EXPECT_EQ(pair.server.state(), DAT_EP_STATE_CONNECTED);
}

TEST_F(EpSetWatermark, TheSoftOneIsAnAttributeOfTheEndpoint) {
  PeerOptions options;
  options.attributes = default_attributes();
  options.attributes->srq_soft_hw = 2;
  Peer peer(kServerName, options);
  DAT_EP_PARAM param{};
  ASSERT_THAT(dat_ep_query(peer.ep, DAT_EP_FIELD_ALL, &param), succeeds());
  EXPECT_EQ(param.ep_attr.srq_soft_hw, 2);
  post(peer, 3);
  expect_soft_event(peer, peer.ep);
  ASSERT_THAT(dat_ep_set_watermark(peer.ep, 7, DAT_WATERMARK_INFINITE), succeeds());
  ASSERT_THAT(dat_ep_query(peer.ep, DAT_EP_FIELD_ALL, &param), succeeds());
  EXPECT_EQ(param.ep_attr.srq_soft_hw, 7);
}

TEST_F(EpSetWatermark, ASoftOneOfZeroOutlivesOtherChanges) {
  Peer peer(kServerName);
  ASSERT_THAT(dat_ep_set_watermark(peer.ep, 0, DAT_WATERMARK_INFINITE), succeeds());
  DAT_EP_PARAM param{};
  param.ep_attr.max_request_dtos = 100;
  ASSERT_THAT(dat_ep_modify(peer.ep, DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS, &param), succeeds());
  ASSERT_THAT(dat_ep_query(peer.ep, DAT_EP_FIELD_ALL, &param), succeeds());
  EXPECT_EQ(param.ep_attr.srq_soft_hw, 0);
  post(peer, 1);
  expect_soft_event(peer, peer.ep);
  // Named, 0 asks for the provider's choice, as at dat_ep_create().
  ASSERT_THAT(dat_ep_modify(peer.ep, DAT_EP_FIELD_EP_ATTR_SRQ_SOFT_HW, &param), succeeds());
  ASSERT_THAT(dat_ep_query(peer.ep, DAT_EP_FIELD_ALL, &param), succeeds());
  EXPECT_EQ(param.ep_attr.srq_soft_hw, DAT_WATERMARK_INFINITE);
}

TEST_F(EpSetWatermark, OtherNegativeNumbersAreInvalidAndChangeNothing) {
  Peer peer(kServerName);
  ASSERT_THAT(dat_ep_set_watermark(peer.ep, 1, DAT_WATERMARK_INFINITE), succeeds());
  EXPECT_THAT(dat_ep_set_watermark(peer.ep, -2, 1), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  EXPECT_THAT(dat_ep_set_watermark(peer.ep, 5, -2), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  post(peer, 2);
  expect_soft_event(peer, peer.ep);
}

}  // namespace
}  // namespace softdat::conformance
