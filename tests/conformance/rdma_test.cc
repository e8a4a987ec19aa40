// SPDX-License-Identifier: BSD-2-Clause
// dat_ep_post_rdma_write and dat_ep_post_rdma_read, within their rights and beyond.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/conformance/foreign_memory.h"
#include "tests/conformance/lacks.h"
#include "tests/conformance/peer.h"

namespace softdat::conformance {
namespace {

class Rdma : public testing::Test {
 protected:
  static DAT_RETURN post_write(Peer& peer, std::vector<DAT_LMR_TRIPLET> segments, const DAT_RMR_TRIPLET& remote) {
    return dat_ep_post_rdma_write(peer.ep, static_cast<DAT_COUNT>(segments.size()), segments.data(), make_cookie(1),
                                  &remote, DAT_COMPLETION_DEFAULT_FLAG);
  }
  static DAT_RETURN post_read(Peer& peer, std::vector<DAT_LMR_TRIPLET> segments, const DAT_RMR_TRIPLET& remote) {
    return dat_ep_post_rdma_read(peer.ep, static_cast<DAT_COUNT>(segments.size()), segments.data(), make_cookie(1),
                                 &remote, DAT_COMPLETION_DEFAULT_FLAG);
  }

  ConnectedPair pair_;
  Peer& server_ = pair_.server;
  Peer& client_ = pair_.client;
};

TEST_F(Rdma, WriteLandsAndTellsEndpointCookieLengthAndOperation) {
  client_.memory->fill(0, 5000, 1);
  ASSERT_THAT(client_.post_write(0, 5000, server_.memory->remote(100, 5000), 0x123456789abcdef0u), succeeds());
  const auto completion = next_completion(client_.request_evd);
  EXPECT_EQ(completion.ep_handle, client_.ep);
  EXPECT_EQ(completion.user_cookie.as_64, 0x123456789abcdef0u);
  EXPECT_EQ(completion.status, DAT_DTO_SUCCESS);
  EXPECT_EQ(completion.transfered_length, 5000u);
  EXPECT_EQ(operation_of(completion).value_or(Operation::kRdmaWrite), Operation::kRdmaWrite);
  EXPECT_TRUE(eventually([&] { return server_.memory->holds(100, 5000, 1); }));
  EXPECT_TRUE(is_quiet(server_.recv_evd));
}

TEST_F(Rdma, ReadFetchesAndTellsEndpointCookieLengthAndOperation) {
  server_.memory->fill(300, 7000, 2);
  ASSERT_THAT(client_.post_read(0, 7000, server_.memory->remote(300, 7000), 77), succeeds());
  const auto completion = next_completion(client_.request_evd);
  EXPECT_EQ(completion.ep_handle, client_.ep);
  EXPECT_EQ(completion.user_cookie.as_64, 77u);
  EXPECT_EQ(completion.status, DAT_DTO_SUCCESS);
  EXPECT_EQ(completion.transfered_length, 7000u);
  EXPECT_EQ(operation_of(completion).value_or(Operation::kRdmaRead), Operation::kRdmaRead);
  EXPECT_TRUE(client_.memory->holds(0, 7000, 2));
}

TEST_F(Rdma, EverySizeIsWrittenAndReadWhole) {
  for (const std::size_t size : {1u, 7u, 8u, 64u, 1449u, 4096u, 4097u, 32768u, 65536u}) {
    client_.memory->fill(0, size, static_cast<unsigned>(size));
    ASSERT_THAT(client_.post_write(0, size, server_.memory->remote(0, size)), succeeds());
    EXPECT_EQ(next_completion(client_.request_evd).transfered_length, size);
    std::fill_n(client_.memory->data(), size, static_cast<unsigned char>(0));
    ASSERT_THAT(client_.post_read(0, size, server_.memory->remote(0, size)), succeeds());
    EXPECT_EQ(next_completion(client_.request_evd).transfered_length, size);
    EXPECT_TRUE(client_.memory->holds(0, size, static_cast<unsigned>(size))) << size;
  }
}

TEST_F(Rdma, WriteGathersItsSegmentsInOrder) {
  client_.memory->fill(0, 300, 3);
  ASSERT_THAT(
      post_write(client_,
                 {client_.memory->local(0, 100), client_.memory->local(100, 150), client_.memory->local(250, 50)},
                 server_.memory->remote(0, 300)),
      succeeds());
  EXPECT_EQ(next_completion(client_.request_evd).transfered_length, 300u);
  EXPECT_TRUE(eventually([&] { return server_.memory->holds(0, 300, 3); }));
}

TEST_F(Rdma, ReadScattersOverItsSegmentsInOrder) {
  if (const Lack lack = lack_of_read_segments(); !lack.empty()) GTEST_SKIP() << lack;
  server_.memory->fill(0, 300, 4);
  ASSERT_THAT(
      post_read(client_,
                {client_.memory->local(1000, 100), client_.memory->local(0, 150), client_.memory->local(2000, 50)},
                server_.memory->remote(0, 300)),
      succeeds());
  EXPECT_EQ(next_completion(client_.request_evd).transfered_length, 300u);
  const unsigned char* source = server_.memory->data();
  const unsigned char* got = client_.memory->data();
  EXPECT_TRUE(are_same_bytes(source, got + 1000, 100));
  EXPECT_TRUE(are_same_bytes(source + 100, got, 150));
  EXPECT_TRUE(are_same_bytes(source + 250, got + 2000, 50));
}

// The remote buffer may be larger than what is written, and the local one larger than what is read.
TEST_F(Rdma, LongerBuffersAreFilledInFront) {
  client_.memory->fill(0, 10, 5);
  ASSERT_THAT(client_.post_write(0, 10, server_.memory->remote(0, 1000)), succeeds());
  EXPECT_EQ(next_completion(client_.request_evd).transfered_length, 10u);
  // Over iWARP a write completes when it has been sent.
  EXPECT_TRUE(eventually([&] { return server_.memory->holds(0, 10, 5); }));
  server_.memory->fill(0, 20, 6);
  ASSERT_THAT(client_.post_read(0, 1000, server_.memory->remote(0, 20)), succeeds());
  EXPECT_EQ(next_completion(client_.request_evd).transfered_length, 20u);
  EXPECT_TRUE(client_.memory->holds(0, 20, 6));
}

TEST_F(Rdma, TooSmallBuffersAreALengthError) {
  EXPECT_THAT(client_.post_write(0, 11, server_.memory->remote(0, 10)), fails_with(DAT_LENGTH_ERROR));
  EXPECT_THAT(client_.post_read(0, 10, server_.memory->remote(0, 11)), fails_with(DAT_LENGTH_ERROR));
  expect_conversation(server_, client_);
}

TEST_F(Rdma, EmptyTransfersComplete) {
  ASSERT_THAT(client_.post_write(0, 0, server_.memory->remote(0, 0)), succeeds());
  EXPECT_EQ(next_completion(client_.request_evd).status, DAT_DTO_SUCCESS);
  ASSERT_THAT(client_.post_read(0, 0, server_.memory->remote(0, 0)), succeeds());
  EXPECT_EQ(next_completion(client_.request_evd).status, DAT_DTO_SUCCESS);
}

// Writes before a send have landed when the send's receive completes.
TEST_F(Rdma, WritesPrecedeTheSendThatFollowsThem) {
  for (unsigned round = 0; round < 20; ++round) {
    client_.memory->fill(0, 8192, round);
    ASSERT_THAT(server_.post_recv(60000, 4), succeeds());
    ASSERT_THAT(client_.post_write(0, 8192, server_.memory->remote(0, 8192), 0, DAT_COMPLETION_SUPPRESS_FLAG),
                succeeds());
    ASSERT_THAT(client_.post_send(0, 4), succeeds());
    next_completion(server_.recv_evd);
    EXPECT_TRUE(server_.memory->holds(0, 8192, round));
    next_completion(client_.request_evd);
  }
}

// A fenced request starts only when all earlier reads have completed.
TEST_F(Rdma, FencedWriteWaitsForEarlierReads) {
  for (unsigned round = 0; round < 10; ++round) {
    server_.memory->fill(0, 16384, round);
    ASSERT_THAT(client_.post_read(0, 16384, server_.memory->remote(0, 16384), 1), succeeds());
    // Writes back what the read brought, into another place.
    ASSERT_THAT(
        client_.post_write(0, 16384, server_.memory->remote(20000, 16384), 2, DAT_COMPLETION_BARRIER_FENCE_FLAG),
        succeeds());
    EXPECT_EQ(next_completion(client_.request_evd).user_cookie.as_64, 1u);
    EXPECT_EQ(next_completion(client_.request_evd).user_cookie.as_64, 2u);
    EXPECT_TRUE(eventually([&] { return server_.memory->holds(20000, 16384, round); }));
  }
}

// More reads than may be outstanding at once are simply carried out one after another.
TEST_F(Rdma, ReadsBeyondTheirCreditsWaitTheirTurn) {
  server_.memory->fill(0, 32 * 64, 7);
  for (std::size_t i = 0; i < 32; ++i)
    ASSERT_THAT(client_.post_read(i * 64, 64, server_.memory->remote(i * 64, 64), i), succeeds());
  for (std::uint64_t i = 0; i < 32; ++i) EXPECT_EQ(next_completion(client_.request_evd).user_cookie.as_64, i);
  EXPECT_TRUE(client_.memory->holds(0, 32 * 64, 7));
}

TEST_F(Rdma, BothSidesTransferAtTheSameTime) {
  client_.memory->fill(0, 16384, 8);
  server_.memory->fill(0, 16384, 9);
  ASSERT_THAT(client_.post_write(0, 16384, server_.memory->remote(32768, 16384)), succeeds());
  ASSERT_THAT(server_.post_write(0, 16384, client_.memory->remote(32768, 16384)), succeeds());
  EXPECT_EQ(next_completion(client_.request_evd).status, DAT_DTO_SUCCESS);
  EXPECT_EQ(next_completion(server_.request_evd).status, DAT_DTO_SUCCESS);
  EXPECT_TRUE(eventually([&] { return server_.memory->holds(32768, 16384, 8); }));
  EXPECT_TRUE(eventually([&] { return client_.memory->holds(32768, 16384, 9); }));
}

TEST_F(Rdma, BadArgumentsAreNamedAndChangeNothing) {
  DAT_LMR_TRIPLET local = client_.memory->local(0, 64);
  const DAT_RMR_TRIPLET remote = server_.memory->remote(0, 64);
  for (const auto post : {dat_ep_post_rdma_write, dat_ep_post_rdma_read}) {
    EXPECT_THAT(post(client_.ep, -1, &local, make_cookie(0), &remote, DAT_COMPLETION_DEFAULT_FLAG),
                fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
    EXPECT_THAT(post(client_.ep, 0x7fffffff, &local, make_cookie(0), &remote, DAT_COMPLETION_DEFAULT_FLAG),
                fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
    EXPECT_THAT(post(client_.ep, 1, nullptr, make_cookie(0), &remote, DAT_COMPLETION_DEFAULT_FLAG),
                fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
    EXPECT_THAT(post(client_.ep, 1, &local, make_cookie(0), nullptr, DAT_COMPLETION_DEFAULT_FLAG),
                fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5));
    EXPECT_THAT(post(client_.ep, 1, &local, make_cookie(0), &remote, static_cast<DAT_COMPLETION_FLAGS>(0x800)),
                fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6));
  }
  expect_conversation(server_, client_);
}

TEST_F(Rdma, LocalSegmentsAreCheckedAsThoseOfMessages) {
  const DAT_RMR_TRIPLET remote = server_.memory->remote(0, 2);
  const DAT_LMR_TRIPLET outside =
      make_local(client_.memory->data() + client_.memory->size() - 1, 2, client_.memory->lmr_context());
  const DAT_LMR_TRIPLET unknown = make_local(client_.memory->data(), 2, client_.memory->lmr_context() ^ 0x0f0f0f0f);
  Memory foreign(client_.adapter.handle(), client_.adapter.make_pz(), 4096);
  Memory read_only(client_.adapter.handle(), client_.pz, 4096, DAT_MEM_PRIV_LOCAL_READ_FLAG);
  for (const auto post : {post_write, post_read}) {
    EXPECT_THAT(post(client_, {outside}, remote), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
    EXPECT_THAT(post(client_, {unknown}, remote), fails_with(DAT_PRIVILEGES_VIOLATION));
    EXPECT_THAT(post(client_, {foreign.local(0, 2)}, remote), fails_with(DAT_PROTECTION_VIOLATION));
  }
  EXPECT_THAT(post_read(client_, {read_only.local(0, 2)}, remote), fails_with(DAT_PRIVILEGES_VIOLATION));
  EXPECT_THAT(post_write(client_, {read_only.local(0, 2)}, remote), succeeds());
  EXPECT_EQ(next_completion(client_.request_evd).status, DAT_DTO_SUCCESS);
  expect_conversation(server_, client_);
}

TEST_F(Rdma, HundredMegabytesAreWritten) {
  constexpr std::size_t kSize = 100u << 20;
  Memory source(client_.adapter.handle(), client_.pz, kSize);
  Memory target(server_.adapter.handle(), server_.pz, kSize);
  source.fill(0, 1, 1);
  source.fill(kSize / 2, 1, 2);
  source.fill(kSize - 1, 1, 3);
  ASSERT_THAT(post_write(client_, {source.local(0, kSize)}, target.remote(0, kSize)), succeeds());
  EXPECT_EQ(next_completion(client_.request_evd).transfered_length, kSize);
  EXPECT_TRUE(eventually([&] { return target.holds(kSize - 1, 1, 3); }));
  EXPECT_TRUE(target.holds(0, 1, 1));
  EXPECT_TRUE(target.holds(kSize / 2, 1, 2));
}

}  // namespace
}  // namespace softdat::conformance
