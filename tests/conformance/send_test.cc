// SPDX-License-Identifier: BSD-2-Clause
// dat_ep_post_send and dat_ep_post_recv.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tests/conformance/foreign_memory.h"
#include "tests/conformance/lacks.h"
#include "tests/conformance/peer.h"

namespace softdat::conformance {
namespace {

class Send : public testing::Test {
 protected:
  // Posts a list of segments; the list is destroyed when the call returns, as programs may.
  static DAT_RETURN post_send(Peer& peer, std::vector<DAT_LMR_TRIPLET> segments, std::uint64_t cookie = 0) {
    return dat_ep_post_send(peer.ep, static_cast<DAT_COUNT>(segments.size()), segments.data(), make_cookie(cookie),
                            DAT_COMPLETION_DEFAULT_FLAG);
  }
  static DAT_RETURN post_recv(Peer& peer, std::vector<DAT_LMR_TRIPLET> segments, std::uint64_t cookie = 0) {
    return dat_ep_post_recv(peer.ep, static_cast<DAT_COUNT>(segments.size()), segments.data(), make_cookie(cookie),
                            DAT_COMPLETION_DEFAULT_FLAG);
  }

  ConnectedPair pair_;
  Peer& server_ = pair_.server;
  Peer& client_ = pair_.client;
};

TEST_F(Send, CompletionsTellEndpointCookieLengthAndOperation) {
  constexpr std::uint64_t kSent = 0xfedcba9876543210u;
  constexpr std::uint64_t kReceived = 0x8000000000000001u;
  client_.memory->fill(0, 1000, 1);
  ASSERT_THAT(server_.post_recv(0, 4096, kReceived), succeeds());
  ASSERT_THAT(client_.post_send(0, 1000, kSent), succeeds());
  const auto received = next_completion(server_.recv_evd);
  EXPECT_EQ(received.ep_handle, server_.ep);
  EXPECT_EQ(received.user_cookie.as_64, kReceived);
  EXPECT_EQ(received.status, DAT_DTO_SUCCESS);
  EXPECT_EQ(received.transfered_length, 1000u);
  EXPECT_EQ(operation_of(received).value_or(Operation::kReceive), Operation::kReceive);
  const auto sent = next_completion(client_.request_evd);
  EXPECT_EQ(sent.ep_handle, client_.ep);
  EXPECT_EQ(sent.user_cookie.as_64, kSent);
  EXPECT_EQ(sent.status, DAT_DTO_SUCCESS);
  EXPECT_EQ(sent.transfered_length, 1000u);
  EXPECT_EQ(operation_of(sent).value_or(Operation::kSend), Operation::kSend);
  EXPECT_TRUE(server_.memory->holds(0, 1000, 1));
}

TEST_F(Send, EverySizeArrivesWhole) {
  for (const std::size_t size : {1u, 3u, 4u, 63u, 64u, 65u, 1447u, 1448u, 4095u, 4096u, 4097u, 16384u, 65536u}) {
    client_.memory->fill(0, size, static_cast<unsigned>(size));
    ASSERT_THAT(server_.post_recv(0, size), succeeds());
    ASSERT_THAT(client_.post_send(0, size), succeeds());
    EXPECT_EQ(next_completion(server_.recv_evd).transfered_length, size);
    EXPECT_EQ(next_completion(client_.request_evd).status, DAT_DTO_SUCCESS);
    EXPECT_TRUE(server_.memory->holds(0, size, static_cast<unsigned>(size))) << size;
  }
}

TEST_F(Send, MessageOfNoSegmentsIsEmpty) {
  ASSERT_THAT(dat_ep_post_recv(server_.ep, 0, nullptr, make_cookie(1), DAT_COMPLETION_DEFAULT_FLAG), succeeds());
  ASSERT_THAT(dat_ep_post_send(client_.ep, 0, nullptr, make_cookie(2), DAT_COMPLETION_DEFAULT_FLAG), succeeds());
  EXPECT_EQ(next_completion(server_.recv_evd).transfered_length, 0u);
  EXPECT_EQ(next_completion(client_.request_evd).transfered_length, 0u);
}

// Of an empty segment neither address nor context matter.
TEST_F(Send, EmptySegmentIsNotLookedAt) {
  const DAT_LMR_TRIPLET junk = make_local(reinterpret_cast<void*>(8), 0, 0xdeadbeef);
  client_.memory->fill(0, 10, 2);
  ASSERT_THAT(post_recv(server_, {junk, server_.memory->local(0, 64)}), succeeds());
  ASSERT_THAT(post_send(client_, {junk, client_.memory->local(0, 10), junk}), succeeds());
  EXPECT_EQ(next_completion(server_.recv_evd).transfered_length, 10u);
  EXPECT_TRUE(server_.memory->holds(0, 10, 2));
}

// Segments are gathered in order and filled in order: full, one partial, the rest untouched.
TEST_F(Send, SegmentsAreGatheredAndScatteredInOrder) {
  client_.memory->fill(0, 300, 3);
  std::fill_n(server_.memory->data(), 4096, static_cast<unsigned char>(0xee));
  ASSERT_THAT(post_recv(server_, {server_.memory->local(1000, 70), server_.memory->local(0, 200),
                                  server_.memory->local(2000, 500), server_.memory->local(3000, 50)}),
              succeeds());
  ASSERT_THAT(post_send(client_, {client_.memory->local(0, 100), client_.memory->local(100, 1),
                                  client_.memory->local(101, 199)}),
              succeeds());
  EXPECT_EQ(next_completion(server_.recv_evd).transfered_length, 300u);
  const unsigned char* sent = client_.memory->data();
  const unsigned char* got = server_.memory->data();
  EXPECT_TRUE(are_same_bytes(sent, got + 1000, 70));
  EXPECT_TRUE(are_same_bytes(sent + 70, got, 200));
  EXPECT_TRUE(are_same_bytes(sent + 270, got + 2000, 30));
  for (const std::size_t untouched : {2030u, 2499u, 3000u, 3049u}) EXPECT_EQ(got[untouched], 0xee) << untouched;
}

TEST_F(Send, MessagesArriveInTheOrderSent) {
  for (std::uint64_t i = 0; i < 30; ++i) ASSERT_THAT(server_.post_recv(i * 64, 64, i), succeeds());
  for (std::uint64_t i = 0; i < 30; ++i) {
    client_.memory->fill(i * 64, 64, static_cast<unsigned>(i));
    ASSERT_THAT(client_.post_send(i * 64, 64, i), succeeds());
  }
  for (std::uint64_t i = 0; i < 30; ++i) {
    EXPECT_EQ(next_completion(server_.recv_evd).user_cookie.as_64, i);
    EXPECT_EQ(next_completion(client_.request_evd).user_cookie.as_64, i);
    EXPECT_TRUE(server_.memory->holds(i * 64, 64, static_cast<unsigned>(i)));
  }
}

// A send that finds no receive waits for one.
TEST_F(Send, SendBeforeReceiveWaits) {
  if (const Lack lack = lack_of_waiting_sends(); !lack.empty()) GTEST_SKIP() << lack;
  client_.memory->fill(0, 128, 4);
  ASSERT_THAT(client_.post_send(0, 128, 1), succeeds());
  DAT_EVENT event;
  DAT_COUNT more;
  EXPECT_THAT(dat_evd_wait(client_.request_evd, kShortWait, 1, &event, &more), fails_with(DAT_TIMEOUT_EXPIRED));
  ASSERT_THAT(server_.post_recv(0, 128, 2), succeeds());
  EXPECT_EQ(next_completion(client_.request_evd).status, DAT_DTO_SUCCESS);
  EXPECT_EQ(next_completion(server_.recv_evd).user_cookie.as_64, 2u);
  EXPECT_TRUE(server_.memory->holds(0, 128, 4));
}

TEST_F(Send, ReceivesMayBePostedBeforeConnecting) {
  Peer server(kServerName);
  Peer client(kClientName);
  ASSERT_THAT(server.post_recv(0, 64, 1), succeeds());
  ASSERT_THAT(client.post_recv(0, 64, 2), succeeds());
  establish(server, client);
  ASSERT_THAT(client.post_send(0, 64), succeeds());
  ASSERT_THAT(server.post_send(64, 64), succeeds());
  EXPECT_EQ(next_completion(server.recv_evd).user_cookie.as_64, 1u);
  EXPECT_EQ(next_completion(client.recv_evd).user_cookie.as_64, 2u);
}

TEST_F(Send, SuppressedSuccessIsNotReported) {
  for (int i = 0; i < 3; ++i) ASSERT_THAT(server_.post_recv(0, 64), succeeds());
  ASSERT_THAT(client_.post_send(0, 64, 1, DAT_COMPLETION_SUPPRESS_FLAG), succeeds());
  ASSERT_THAT(client_.post_send(0, 64, 2, DAT_COMPLETION_SUPPRESS_FLAG), succeeds());
  ASSERT_THAT(client_.post_send(0, 64, 3), succeeds());
  EXPECT_EQ(next_completion(client_.request_evd).user_cookie.as_64, 3u);
  EXPECT_TRUE(is_quiet(client_.request_evd));
}

// Suppressed requests give their place in the queue back.
TEST_F(Send, SuppressedRequestsFreeTheirSlots) {
  const DAT_RMR_TRIPLET target = server_.memory->remote(0, 64);
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(eventually([&] {
      const DAT_RETURN result = client_.post_write(0, 64, target, 0, DAT_COMPLETION_SUPPRESS_FLAG);
      if (result != DAT_SUCCESS) {
        EXPECT_THAT(result, fails_with(DAT_INSUFFICIENT_RESOURCES));
      }
      return result == DAT_SUCCESS;
    }));
  }
  ASSERT_TRUE(eventually([&] { return client_.post_write(0, 64, target, 9) == DAT_SUCCESS; }));
  EXPECT_EQ(next_completion(client_.request_evd).user_cookie.as_64, 9u);
}

TEST_F(Send, FullQueueIsAMatterOfResources) {
  if (const Lack lack = lack_of_waiting_sends(); !lack.empty()) GTEST_SKIP() << lack;
  DAT_RETURN result = DAT_SUCCESS;
  int posted = 0;
  while (posted < 100'000 && (result = server_.post_recv(0, 64)) == DAT_SUCCESS) ++posted;
  EXPECT_GE(posted, 32);
  EXPECT_THAT(result, fails_with(DAT_INSUFFICIENT_RESOURCES));
  posted = 0;
  while (posted < 100'000 && (result = server_.post_send(0, 64)) == DAT_SUCCESS) ++posted;
  EXPECT_GE(posted, 32);
  EXPECT_THAT(result, fails_with(DAT_INSUFFICIENT_RESOURCES));
}

TEST_F(Send, WildSegmentCountsAreInvalid) {
  std::vector<DAT_LMR_TRIPLET> many(1000, client_.memory->local(0, 1));
  for (const DAT_COUNT count : {-1, 1000, 0x7fffffff, -2147483647 - 1}) {
    EXPECT_THAT(dat_ep_post_send(client_.ep, count, many.data(), make_cookie(0), DAT_COMPLETION_DEFAULT_FLAG),
                fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2))
        << count;
    EXPECT_THAT(dat_ep_post_recv(client_.ep, count, many.data(), make_cookie(0), DAT_COMPLETION_DEFAULT_FLAG),
                fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2))
        << count;
  }
  EXPECT_THAT(dat_ep_post_send(client_.ep, 1, nullptr, make_cookie(0), DAT_COMPLETION_DEFAULT_FLAG),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  EXPECT_THAT(dat_ep_post_recv(client_.ep, 1, nullptr, make_cookie(0), DAT_COMPLETION_DEFAULT_FLAG),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  expect_conversation(server_, client_);
}

TEST_F(Send, UnknownFlagsAreInvalid) {
  EXPECT_THAT(client_.post_send(0, 64, 0, 0x400), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5));
  EXPECT_THAT(client_.post_recv(0, 64, 0, 0x400), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5));
  EXPECT_THAT(client_.post_recv(0, 64, 0, DAT_COMPLETION_SUPPRESS_FLAG),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5));
  expect_conversation(server_, client_);
}

TEST_F(Send, SegmentOutsideItsMemoryIsInvalid) {
  const std::size_t size = client_.memory->size();
  DAT_LMR_TRIPLET segment = make_local(client_.memory->data() + size - 10, 11, client_.memory->lmr_context());
  for (const auto post : {dat_ep_post_send, dat_ep_post_recv}) {
    EXPECT_THAT(post(client_.ep, 1, &segment, make_cookie(0), DAT_COMPLETION_DEFAULT_FLAG),
                fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  }
  segment = make_local(client_.memory->data() - 1, 2, client_.memory->lmr_context());
  EXPECT_THAT(dat_ep_post_send(client_.ep, 1, &segment, make_cookie(0), DAT_COMPLETION_DEFAULT_FLAG),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  expect_conversation(server_, client_);
}

TEST_F(Send, UnknownContextIsAPrivilegesViolation) {
  DAT_LMR_TRIPLET segment = make_local(client_.memory->data(), 64, client_.memory->lmr_context() ^ 0x5a5a5a5a);
  for (const auto post : {dat_ep_post_send, dat_ep_post_recv}) {
    EXPECT_THAT(post(client_.ep, 1, &segment, make_cookie(0), DAT_COMPLETION_DEFAULT_FLAG),
                fails_with(DAT_PRIVILEGES_VIOLATION));
  }
  expect_conversation(server_, client_);
}

TEST_F(Send, MemoryOfAnotherZoneIsAProtectionViolation) {
  Memory foreign(client_.adapter.handle(), client_.adapter.make_pz(), 4096);
  DAT_LMR_TRIPLET segment = foreign.local(0, 64);
  for (const auto post : {dat_ep_post_send, dat_ep_post_recv}) {
    EXPECT_THAT(post(client_.ep, 1, &segment, make_cookie(0), DAT_COMPLETION_DEFAULT_FLAG),
                fails_with(DAT_PROTECTION_VIOLATION));
  }
  expect_conversation(server_, client_);
}

TEST_F(Send, ReceiveNeedsTheRightToWrite) {
  Memory read_only(client_.adapter.handle(), client_.pz, 4096, DAT_MEM_PRIV_LOCAL_READ_FLAG);
  DAT_LMR_TRIPLET segment = read_only.local(0, 64);
  EXPECT_THAT(dat_ep_post_recv(client_.ep, 1, &segment, make_cookie(0), DAT_COMPLETION_DEFAULT_FLAG),
              fails_with(DAT_PRIVILEGES_VIOLATION));
  expect_conversation(server_, client_);
}

// Existing programs send from memory registered for writing only: reading one's own memory is
// implied.
TEST_F(Send, SendNeedsNoExplicitRightToRead) {
  Memory write_only(client_.adapter.handle(), client_.pz, 4096, DAT_MEM_PRIV_LOCAL_WRITE_FLAG);
  DAT_LMR_TRIPLET segment = write_only.local(0, 64);
  ASSERT_THAT(server_.post_recv(0, 64), succeeds());
  EXPECT_THAT(dat_ep_post_send(client_.ep, 1, &segment, make_cookie(0), DAT_COMPLETION_DEFAULT_FLAG), succeeds());
  EXPECT_EQ(next_completion(client_.request_evd).status, DAT_DTO_SUCCESS);
}

// "One of the LMRs used in local_iov was either invalid or did not have the local read privileges."
TEST_F(Send, MemoryWithoutLocalRightsCannotBeSentFrom) {
  for (const int privileges :
       {int{DAT_MEM_PRIV_NONE_FLAG}, DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG}) {
    Memory shut(client_.adapter.handle(), client_.pz, 4096, privileges);
    DAT_LMR_TRIPLET segment = shut.local(0, 64);
    const auto refused = fails_with(DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_READ);
    EXPECT_THAT(dat_ep_post_send(client_.ep, 1, &segment, make_cookie(0), DAT_COMPLETION_DEFAULT_FLAG), refused);
    const DAT_RMR_TRIPLET target = server_.memory->remote(0, 64);
    EXPECT_THAT(dat_ep_post_rdma_write(client_.ep, 1, &segment, make_cookie(0), &target, DAT_COMPLETION_DEFAULT_FLAG),
                refused);
    EXPECT_THAT(dat_ep_post_recv(client_.ep, 1, &segment, make_cookie(0), DAT_COMPLETION_DEFAULT_FLAG),
                fails_with(DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_WRITE));
  }
  expect_conversation(server_, client_);
}

// Its peers may use it all the same.
TEST_F(Send, MemoryWithRemoteRightsAloneServesPeers) {
  Memory shared(server_.adapter.handle(), server_.pz, 4096,
                DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG);
  client_.memory->fill(0, 64, 9);
  ASSERT_THAT(client_.post_write(0, 64, shared.remote(0, 64)), succeeds());
  EXPECT_EQ(next_completion(client_.request_evd).status, DAT_DTO_SUCCESS);
  ASSERT_THAT(client_.post_read(64, 64, shared.remote(0, 64)), succeeds());
  EXPECT_EQ(next_completion(client_.request_evd).status, DAT_DTO_SUCCESS);
  EXPECT_TRUE(client_.memory->holds(64, 64, 9));
}

TEST_F(Send, UnconnectedEndpointRefusesRequests) {
  Peer peer(kServerName);
  EXPECT_THAT(peer.post_send(0, 64), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_UNCONNECTED));
  EXPECT_THAT(peer.post_write(0, 64, peer.memory->remote(0, 64)),
              fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_UNCONNECTED));
  EXPECT_THAT(peer.post_read(0, 64, peer.memory->remote(0, 64)),
              fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_UNCONNECTED));
}

// A message longer than its receive: the receiver hears of a length error, the sender of a refusal,
// and the connection is over on both sides.
TEST_F(Send, MessageLongerThanItsReceiveBreaksTheConnection) {
  if (const Lack lack = lack_of_refusals(); !lack.empty()) GTEST_SKIP() << lack;
  ASSERT_THAT(server_.post_recv(0, 100, 1), succeeds());
  ASSERT_THAT(server_.post_recv(0, 100, 2), succeeds());
  ASSERT_THAT(client_.post_send(0, 101, 3), succeeds());
  const auto received = next_completion(server_.recv_evd);
  EXPECT_EQ(received.status, DAT_DTO_ERR_LOCAL_LENGTH);
  EXPECT_EQ(received.user_cookie.as_64, 1u);
  EXPECT_EQ(next_completion(server_.recv_evd).status, DAT_DTO_ERR_FLUSHED);
  const auto sent = next_completion(client_.request_evd);
  EXPECT_EQ(sent.user_cookie.as_64, 3u);
  EXPECT_EQ(sent.status, DAT_DTO_ERR_REMOTE_RESPONDER);
  EXPECT_EQ(next_event(server_.connect_evd).event_number, DAT_CONNECTION_EVENT_BROKEN);
  EXPECT_EQ(next_event(client_.connect_evd).event_number, DAT_CONNECTION_EVENT_BROKEN);
  EXPECT_EQ(server_.state(), DAT_EP_STATE_DISCONNECTED);
  EXPECT_EQ(client_.state(), DAT_EP_STATE_DISCONNECTED);
}

// Big messages, and more of them than any buffer on the way holds.
TEST_F(Send, ManyBigMessagesArrive) {
  PeerOptions big;
  big.memory = 4u << 20;
  ConnectedPair pair(big);
  constexpr std::size_t kSize = 1 << 20;
  for (std::size_t i = 0; i < 4; ++i) pair.client.memory->fill(i * kSize, kSize, static_cast<unsigned>(i));
  for (std::size_t i = 0; i < 4; ++i) ASSERT_THAT(pair.server.post_recv(i * kSize, kSize, i), succeeds());
  for (std::size_t i = 0; i < 4; ++i) ASSERT_THAT(pair.client.post_send(i * kSize, kSize, i), succeeds());
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(next_completion(pair.server.recv_evd).transfered_length, kSize);
    EXPECT_EQ(next_completion(pair.client.request_evd).status, DAT_DTO_SUCCESS);
    EXPECT_TRUE(pair.server.memory->holds(i * kSize, kSize, static_cast<unsigned>(i)));
  }
}

// The same dispatcher may collect receives and requests of many endpoints.
TEST(SharedDispatcher, CompletionsOfManyEndpointsAreToldApart) {
  Peer server(kServerName);
  std::vector<DAT_EP_HANDLE> eps;
  std::vector<std::unique_ptr<Peer>> clients;
  const DAT_CONN_QUAL qualifier = server.listen();
  for (int i = 0; i < 4; ++i) {
    clients.push_back(std::make_unique<Peer>(kClientName));
    ASSERT_THAT(clients.back()->connect(server, qualifier), succeeds());
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    require(dat_ep_create(server.adapter.handle(), server.pz, server.recv_evd, server.recv_evd, server.connect_evd,
                          nullptr, &ep),
            "dat_ep_create");
    eps.push_back(ep);
    DAT_LMR_TRIPLET segment = server.memory->local(static_cast<std::size_t>(i) * 64, 64);
    ASSERT_THAT(dat_ep_post_recv(ep, 1, &segment, make_cookie(0), DAT_COMPLETION_DEFAULT_FLAG), succeeds());
    ASSERT_THAT(dat_cr_accept(server.next_request(), ep, 0, nullptr), succeeds());
    next_event(clients.back()->connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  }
  for (std::size_t i : {2u, 0u, 3u, 1u}) {
    ASSERT_THAT(clients[i]->post_send(0, 64), succeeds());
    EXPECT_EQ(next_completion(server.recv_evd).ep_handle, eps[i]);
  }
}

}  // namespace
}  // namespace softdat::conformance
