// SPDX-License-Identifier: BSD-2-Clause
// dat_srq_post_recv, and what becomes of the receives.
#include <gtest/gtest.h>

#include <thread>

#include "tests/conformance/foreign_memory.h"
#include "tests/conformance/lacks.h"
#include "tests/conformance/shared_server.h"

namespace softdat::conformance {
namespace {

class SrqRecv : public testing::Test {
 protected:
  SharedServer server_;
};

TEST_F(SrqRecv, AMessageToAnyEndpointTakesABuffer) {
  constexpr std::size_t kLength = 100;
  for (int i = 0; i < 3; ++i) server_.connect_client();
  for (std::size_t i = 0; i < 3; ++i) ASSERT_THAT(server_.post(i * kLength, kLength, 50 + i), succeeds());
  for (const std::size_t i : {2u, 0u, 1u}) {
    Peer& client = *server_.clients[i];
    client.memory->fill(0, kLength, static_cast<unsigned>(i));
    ASSERT_THAT(client.post_send(0, kLength), succeeds());
    const auto received = next_completion(server_.peer.recv_evd);
    EXPECT_EQ(received.ep_handle, server_.endpoints[i]);
    EXPECT_EQ(received.status, DAT_DTO_SUCCESS);
    EXPECT_EQ(received.transfered_length, kLength);
    ASSERT_GE(received.user_cookie.as_64, 50u);
    EXPECT_TRUE(
        server_.peer.memory->holds((received.user_cookie.as_64 - 50) * kLength, kLength, static_cast<unsigned>(i)));
  }
}

TEST_F(SrqRecv, SegmentsAreFilledInTheirOrder) {
  Peer& client = server_.connect_client();
  DAT_LMR_TRIPLET segments[] = {server_.peer.memory->local(0, 10), server_.peer.memory->local(100, 10)};
  server_.peer.memory->fill(100, 10, 9);
  ASSERT_THAT(dat_srq_post_recv(server_.srq, 2, segments, make_cookie(1)), succeeds());
  client.memory->fill(0, 15, 1);
  ASSERT_THAT(client.post_send(0, 15), succeeds());
  EXPECT_EQ(next_completion(server_.peer.recv_evd).transfered_length, 15u);
  const unsigned char* sent = client.memory->data();
  const unsigned char* got = server_.peer.memory->data();
  EXPECT_TRUE(are_same_bytes(sent, got, 10));
  EXPECT_TRUE(are_same_bytes(sent + 10, got + 100, 5));
}

TEST_F(SrqRecv, TheVectorIsTheConsumersAgainAtOnce) {
  Peer& client = server_.connect_client();
  DAT_LMR_TRIPLET segment = server_.peer.memory->local(0, 64);
  ASSERT_THAT(dat_srq_post_recv(server_.srq, 1, &segment, make_cookie(1)), succeeds());
  segment = {};
  client.memory->fill(0, 64, 5);
  ASSERT_THAT(client.post_send(0, 64), succeeds());
  EXPECT_EQ(next_completion(server_.peer.recv_evd).status, DAT_DTO_SUCCESS);
  EXPECT_TRUE(server_.peer.memory->holds(0, 64, 5));
}

TEST_F(SrqRecv, CookiesNeedNotDiffer) {
  server_.connect_client();
  for (int i = 0; i < 3; ++i) ASSERT_THAT(server_.post_empty(7), succeeds());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(server_.take(0).user_cookie.as_64, 7u);
}

TEST_F(SrqRecv, EachConnectionsMessagesCompleteInTheOrderSent) {
  if (const Lack lack = lack_of_waiting_sends(); !lack.empty()) GTEST_SKIP() << lack;
  constexpr std::size_t kMessages = 60;
  for (int i = 0; i < 2; ++i) server_.connect_client();
  std::size_t next[2] = {0, 0};
  std::size_t posted = 0;
  for (; posted < 8; ++posted) ASSERT_THAT(server_.post(posted * 100, 100, posted), succeeds());
  std::thread senders[2];
  for (std::size_t c = 0; c < 2; ++c) {
    senders[c] = std::thread([&, c] {
      Peer& client = *server_.clients[c];
      for (std::size_t i = 0; i < kMessages; ++i) {
        // The length is the number.
        require(client.post_send(0, i + 1), "dat_ep_post_send");
        next_completion(client.request_evd);
      }
    });
  }
  for (std::size_t i = 0; i < 2 * kMessages; ++i) {
    const auto received = next_completion(server_.peer.recv_evd);
    const std::size_t c = received.ep_handle == server_.endpoints[0] ? 0 : 1;
    EXPECT_EQ(received.ep_handle, server_.endpoints[c]);
    EXPECT_EQ(received.transfered_length, ++next[c]);
    ASSERT_THAT(server_.post(received.user_cookie.as_64 * 100, 100, received.user_cookie.as_64), succeeds());
  }
  for (std::thread& sender : senders) sender.join();
}

// As on an endpoint's own queue: it waits for the buffer.
TEST_F(SrqRecv, AMessageThatFindsNoBufferWaitsForOne) {
  if (const Lack lack = lack_of_waiting_sends(); !lack.empty()) GTEST_SKIP() << lack;
  server_.connect_client();
  server_.connect_client();
  server_.send(0);
  server_.send(1);
  server_.send(0);
  EXPECT_TRUE(is_quiet(server_.peer.recv_evd));
  server_.post_many(3);
  int of_first = 0;
  for (int i = 0; i < 3; ++i) of_first += next_completion(server_.peer.recv_evd).ep_handle == server_.endpoints[0];
  EXPECT_EQ(of_first, 2);
  for (const std::size_t c : {0u, 0u, 1u}) {
    EXPECT_EQ(next_completion(server_.clients[c]->request_evd).status, DAT_DTO_SUCCESS);
  }
}

TEST_F(SrqRecv, EndpointsThatAreNotConnectedTakeNothing) {
  const DAT_EP_HANDLE idle = server_.make_endpoint();
  server_.post_many(2);
  require(dat_ep_free(idle), "dat_ep_free");
  EXPECT_EQ(server_.query().available_dto_count, 2);
  EXPECT_TRUE(is_quiet(server_.peer.recv_evd));
}

TEST_F(SrqRecv, BuffersThatNobodyTookStayWhenAConnectionEnds) {
  Peer& client = server_.connect_client();
  server_.connect_client();
  server_.post_many(3);
  ASSERT_THAT(dat_ep_disconnect(client.ep, DAT_CLOSE_ABRUPT_FLAG), succeeds());
  next_event(server_.peer.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED);
  EXPECT_TRUE(is_quiet(server_.peer.recv_evd));
  EXPECT_EQ(server_.query().available_dto_count, 3);
  EXPECT_EQ(server_.take(1).status, DAT_DTO_SUCCESS);
}

TEST_F(SrqRecv, ABufferThatIsTooShortFailsAloneAndBreaksTheConnection) {
  if (const Lack lack = lack_of_refusals(); !lack.empty()) GTEST_SKIP() << lack;
  Peer& client = server_.connect_client();
  server_.connect_client();
  ASSERT_THAT(server_.post(0, 10, 1), succeeds());
  ASSERT_THAT(server_.post(0, 64, 2), succeeds());
  ASSERT_THAT(client.post_send(0, 64), succeeds());
  const auto received = next_completion(server_.peer.recv_evd);
  EXPECT_EQ(received.status, DAT_DTO_ERR_LOCAL_LENGTH);
  EXPECT_EQ(received.user_cookie.as_64, 1u);
  next_event(server_.peer.connect_evd, DAT_CONNECTION_EVENT_BROKEN);
  EXPECT_EQ(server_.take(1).user_cookie.as_64, 2u);
}

TEST_F(SrqRecv, AFullQueueRefuses) {
  server_.connect_client();
  server_.post_many(8);
  EXPECT_THAT(server_.post_empty(), fails_with(DAT_INSUFFICIENT_RESOURCES));
  server_.send(0);
  next_completion(server_.clients[0]->request_evd);
  EXPECT_THAT(server_.post_empty(), fails_with(DAT_INSUFFICIENT_RESOURCES));  // not reaped yet
  next_completion(server_.peer.recv_evd);
  EXPECT_THAT(server_.post_empty(), succeeds());
}

TEST_F(SrqRecv, BadSegmentsAreRefusedAndChangeNothing) {
  Peer& peer = server_.peer;
  DAT_LMR_TRIPLET segments[3] = {peer.memory->local(0, 8), peer.memory->local(8, 8), peer.memory->local(16, 8)};
  const auto post = [&](DAT_COUNT count, DAT_LMR_TRIPLET* iov) {
    return dat_srq_post_recv(server_.srq, count, iov, make_cookie(1));
  };
  EXPECT_THAT(post(3, segments), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  EXPECT_THAT(post(-1, segments), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  EXPECT_THAT(post(1, nullptr), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  DAT_LMR_TRIPLET outside = peer.memory->local(peer.memory->size() - 8, 9);
  EXPECT_THAT(post(1, &outside), fails_with(DAT_INVALID_PARAMETER));
  Memory foreign(peer.adapter.handle(), peer.adapter.make_pz(), 64);
  DAT_LMR_TRIPLET other_zone = foreign.local(0, 8);
  EXPECT_THAT(post(1, &other_zone), fails_with(DAT_PROTECTION_VIOLATION));
  Memory readable(peer.adapter.handle(), peer.pz, 64, DAT_MEM_PRIV_LOCAL_READ_FLAG);
  DAT_LMR_TRIPLET no_right = readable.local(0, 8);
  EXPECT_THAT(post(1, &no_right), fails_with(DAT_PRIVILEGES_VIOLATION));
  EXPECT_EQ(server_.query().outstanding_dto_count, 0);
}

// By definition all receives of a shared queue complete with signal.
TEST_F(SrqRecv, CompletionsOfUnsignalledEndpointsWakeAWaiter) {
  PeerOptions options;
  options.attributes = default_attributes();
  options.attributes->recv_completion_flags = DAT_COMPLETION_UNSIGNALLED_FLAG;
  SharedServer server(8, 0, options);
  server.connect_client();
  server.post_many(1);
  std::thread sender([&] { server.send(0); });
  DAT_EVENT event;
  DAT_COUNT more = 0;
  EXPECT_THAT(dat_evd_wait(server.peer.recv_evd, kPatience, 1, &event, &more), succeeds());
  sender.join();
}

TEST_F(SrqRecv, WithSolicitedWaitTheSenderDecidesWhetherAWaiterWakes) {
  PeerOptions options;
  options.attributes = default_attributes();
  options.attributes->recv_completion_flags = DAT_COMPLETION_SOLICITED_WAIT_FLAG;
  SharedServer server(8, 0, options);
  Peer& client = server.connect_client();
  server.post_many(2);
  std::thread sender([&] {
    require(dat_ep_post_send(client.ep, 0, nullptr, make_cookie(1), DAT_COMPLETION_DEFAULT_FLAG), "dat_ep_post_send");
    require(dat_ep_post_send(client.ep, 0, nullptr, make_cookie(2), DAT_COMPLETION_SOLICITED_WAIT_FLAG),
            "dat_ep_post_send");
  });
  DAT_EVENT event;
  DAT_COUNT more = 0;
  EXPECT_THAT(dat_evd_wait(server.peer.recv_evd, kPatience, 1, &event, &more), succeeds());
  sender.join();
  EXPECT_EQ(next_completion(server.peer.recv_evd).status, DAT_DTO_SUCCESS);
}

TEST_F(SrqRecv, EndpointsMayHaveDispatchersOfTheirOwn) {
  server_.connect_client();
  const DAT_EVD_HANDLE shared = server_.peer.recv_evd;
  server_.peer.recv_evd = server_.peer.adapter.make_evd(DAT_EVD_DTO_FLAG);
  server_.connect_client();
  server_.post_many(2);
  server_.send(0);
  EXPECT_EQ(next_completion(shared).ep_handle, server_.endpoints[0]);
  server_.send(1);
  EXPECT_EQ(next_completion(server_.peer.recv_evd).ep_handle, server_.endpoints[1]);
}

TEST_F(SrqRecv, WithoutAReceiveDispatcherBuffersAreReapedByThemselves) {
  server_.peer.recv_evd = DAT_HANDLE_NULL;
  Peer& client = server_.connect_client();
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(eventually([&] { return server_.post_empty() == DAT_SUCCESS; }));
    server_.send(0);
    EXPECT_EQ(next_completion(client.request_evd).status, DAT_DTO_SUCCESS);
  }
  EXPECT_TRUE(eventually([&] { return server_.query().outstanding_dto_count == 0; }));
}

TEST_F(SrqRecv, CompletionsOutliveEndpointAndQueue) {
  server_.connect_client();
  server_.post_many(2);
  server_.send(0);
  next_completion(server_.clients[0]->request_evd);
  require(dat_ep_free(server_.endpoints[0]), "dat_ep_free");
  EXPECT_EQ(server_.query().outstanding_dto_count, 2);
  require(dat_srq_free(server_.srq), "dat_srq_free");
  EXPECT_EQ(next_completion(server_.peer.recv_evd).status, DAT_DTO_SUCCESS);
}

}  // namespace
}  // namespace softdat::conformance
