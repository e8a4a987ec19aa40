// SPDX-License-Identifier: BSD-2-Clause
// What DAT 2.0 adds to RMRs: those of one endpoint, zero-based ones, sends that invalidate, and reads
// into an RMR.
#include <algorithm>

#include "tests/conformance/foreign_memory.h"
#include "tests/conformance/lacks.h"
#include "tests/conformance/rmr_world.h"

#if SOFTDAT_DAT_MAJOR == 2

namespace softdat::conformance {
namespace {

class RmrOfDat2 : public RmrWorld {
 protected:
  DAT_RMR_HANDLE make_rmr_for_ep() {
    DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
    require(dat_rmr_create_for_ep(server_.pz, &rmr), "dat_rmr_create_for_ep");
    return rmr;
  }
  DAT_RETURN bind_as(DAT_RMR_HANDLE rmr, const DAT_LMR_TRIPLET& piece, DAT_VA_TYPE type, DAT_RMR_CONTEXT* context) {
    return dat_rmr_bind(rmr, server_.memory->lmr(), &piece, DAT_MEM_PRIV_ALL_FLAG, type, server_.ep, make_cookie(1),
                        DAT_COMPLETION_DEFAULT_FLAG, context);
  }
  DAT_RETURN send_invalidate(DAT_RMR_CONTEXT context, DAT_BOOLEAN flag = DAT_TRUE, int flags = 0) {
    DAT_LMR_TRIPLET segment = client_.memory->local(0, 64);
    return dat_ep_post_send_with_invalidate(client_.ep, 1, &segment, make_cookie(3),
                                            static_cast<DAT_COMPLETION_FLAGS>(flags), flag, context);
  }
  DAT_RETURN read_to(const DAT_RMR_TRIPLET& local, const DAT_RMR_TRIPLET& remote, int flags = 0) {
    return dat_ep_post_rdma_read_to_rmr(server_.ep, &local, make_cookie(4), &remote,
                                        static_cast<DAT_COMPLETION_FLAGS>(flags));
  }
};

TEST_F(RmrOfDat2, AttributesNameTheScopes) {
  DAT_PROVIDER_ATTR provider{};
  require(dat_ia_query(server_.adapter.handle(), nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &provider),
          "dat_ia_query");
  EXPECT_EQ(provider.rmr_scope_supported, DAT_RMR_SCOPE_ANY);
  EXPECT_EQ(provider.rdma_read_lmr_rmr_context_exposure, DAT_TRUE);
  EXPECT_EQ(query(make_rmr()).rmr_scope, DAT_RMR_SCOPE_PZ);
  EXPECT_EQ(query(make_rmr_for_ep()).rmr_scope, DAT_RMR_SCOPE_EP);
}

TEST_F(RmrOfDat2, CreateForEpChecksItsArguments) {
  DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
  EXPECT_THAT(dat_rmr_create_for_ep(server_.ep, &rmr), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ));
  EXPECT_THAT(dat_rmr_create_for_ep(server_.pz, nullptr), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
}

TEST_F(RmrOfDat2, RmrForAnEndpointServesThatOneAlone) {
  const DAT_RMR_HANDLE rmr = make_rmr_for_ep();
  const DAT_RMR_CONTEXT context = bound(rmr, 0, 64);
  EXPECT_EQ(write(context, 0), DAT_DTO_SUCCESS);
  // Another connection between the same zones.
  const DAT_EP_HANDLE first_client = client_.ep;
  const DAT_EP_HANDLE first_server = server_.ep;
  client_.ep = server_.ep = DAT_HANDLE_NULL;
  client_.renew_endpoint();
  server_.renew_endpoint();
  establish(server_, client_);
  EXPECT_EQ(write(context, 0), DAT_DTO_ERR_REMOTE_ACCESS);
  client_.ep = first_client;
  server_.ep = first_server;
  EXPECT_EQ(write(context, 0), DAT_DTO_SUCCESS);
}

TEST_F(RmrOfDat2, ZeroBasedRmrCountsFromItsStart) {
  if (const Lack lack = lack_of_simulation(); !lack.empty()) GTEST_SKIP() << lack;
  const DAT_RMR_HANDLE rmr = make_rmr();
  DAT_RMR_CONTEXT context = 0;
  ASSERT_THAT(bind_as(rmr, server_.memory->local(1000, 500), DAT_VA_TYPE_ZB, &context), succeeds());
  EXPECT_EQ(next_bind(server_).status, DAT_RMR_BIND_SUCCESS);
  EXPECT_EQ(query(rmr).va_type, DAT_VA_TYPE_ZB);
  EXPECT_EQ(query(rmr).lmr_triplet.virtual_address, server_.memory->local(1000, 0).virtual_address);
  client_.memory->fill(0, 100, 2);
  ASSERT_THAT(client_.post_write(0, 100, make_remote(std::uint64_t{400}, 100, context)), succeeds());
  EXPECT_EQ(next_completion(client_.request_evd).status, DAT_DTO_SUCCESS);
  const unsigned char* sent = client_.memory->data();
  EXPECT_TRUE(eventually([&] { return are_same_bytes(sent, server_.memory->data() + 1400, 100); }));
  ASSERT_THAT(client_.post_write(0, 100, make_remote(std::uint64_t{401}, 100, context)), succeeds());
  EXPECT_EQ(next_completion(client_.request_evd).status, DAT_DTO_ERR_REMOTE_ACCESS);
}

TEST_F(RmrOfDat2, RmrOverAZeroBasedLmrCountsAsEachSays) {
  if (const Lack lack = lack_of_zero_based_regions(); !lack.empty()) GTEST_SKIP() << lack;
  DAT_REGION_DESCRIPTION region{};
  region.for_va = server_.memory->data() + 2000;
  DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
  DAT_LMR_CONTEXT lmr_context = 0;
  ASSERT_THAT(dat_lmr_create(server_.adapter.handle(), DAT_MEM_TYPE_VIRTUAL, region, 1000, server_.pz,
                             DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_ZB, &lmr, &lmr_context, nullptr, nullptr, nullptr),
              succeeds());
  const DAT_LMR_TRIPLET piece{100, 200, lmr_context};
  const DAT_RMR_HANDLE rmr = make_rmr();
  DAT_RMR_CONTEXT context = 0;
  ASSERT_THAT(dat_rmr_bind(rmr, lmr, &piece, DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, server_.ep, make_cookie(1),
                           DAT_COMPLETION_DEFAULT_FLAG, &context),
              succeeds());
  EXPECT_EQ(next_bind(server_).status, DAT_RMR_BIND_SUCCESS);
  EXPECT_EQ(query(rmr).lmr_triplet.virtual_address, 100u);
  EXPECT_EQ(write(context, 2100, 200), DAT_DTO_SUCCESS);
  EXPECT_EQ(write(context, 2101, 200), DAT_DTO_ERR_REMOTE_ACCESS);
}

TEST_F(RmrOfDat2, AddressTypeAndLmrAreChecked) {
  const DAT_LMR_TRIPLET piece = server_.memory->local(0, 64);
  DAT_RMR_CONTEXT context = 0;
  EXPECT_THAT(bind_as(make_rmr(), piece, static_cast<DAT_VA_TYPE>(2), &context),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5));
  Memory other(server_.adapter.handle(), server_.pz, 4096);
  EXPECT_THAT(bind(make_rmr(), piece, kReadAndWrite, &context, 0, 1, other.lmr()),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  EXPECT_THAT(bind(make_rmr(), piece, kReadAndWrite, &context, 0, 1, client_.memory->lmr()),
              fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_LMR));
}

TEST_F(RmrOfDat2, InvalidatingSendShutsTheContextAndTellsTheReceiver) {
  const DAT_RMR_HANDLE rmr = make_rmr_for_ep();
  const DAT_RMR_CONTEXT context = bound(rmr, 0, 64);
  client_.memory->fill(0, 64, 5);
  ASSERT_THAT(server_.post_recv(4096, 100, 8), succeeds());
  ASSERT_THAT(send_invalidate(context), succeeds());
  const auto sent = next_completion(client_.request_evd);
  EXPECT_EQ(sent.status, DAT_DTO_SUCCESS);
  EXPECT_EQ(sent.operation, DAT_DTO_SEND);
  EXPECT_EQ(sent.transfered_length, 64u);
  const auto received = next_completion(server_.recv_evd);
  EXPECT_EQ(received.status, DAT_DTO_SUCCESS);
  EXPECT_EQ(received.operation, DAT_DTO_RECEIVE_WITH_INVALIDATE);
  EXPECT_EQ(received.rmr_context, context);
  EXPECT_EQ(received.user_cookie.as_64, 8u);
  EXPECT_EQ(received.transfered_length, 64u);
  const unsigned char* message = client_.memory->data();
  EXPECT_TRUE(are_same_bytes(message, server_.memory->data() + 4096, 64));
  EXPECT_EQ(query(rmr).rmr_context, 0u);
  EXPECT_THAT(dat_lmr_free(server_.memory->lmr()), succeeds());
  EXPECT_EQ(write(context, 0), DAT_DTO_ERR_REMOTE_ACCESS);
}

TEST_F(RmrOfDat2, RmrIsBoundAgainAfterItsInvalidation) {
  const DAT_RMR_HANDLE rmr = make_rmr_for_ep();
  for (int round = 0; round < 50; ++round) {
    const DAT_RMR_CONTEXT context = bound(rmr, 0, 64);
    ASSERT_EQ(write(context, 0), DAT_DTO_SUCCESS);
    ASSERT_THAT(server_.post_recv(4096, 64), succeeds());
    ASSERT_THAT(send_invalidate(context), succeeds());
    const auto received = next_completion(server_.recv_evd);
    ASSERT_EQ(received.status, DAT_DTO_SUCCESS) << round;
    ASSERT_EQ(received.rmr_context, context) << round;
    ASSERT_EQ(next_completion(client_.request_evd).status, DAT_DTO_SUCCESS);
  }
}

TEST_F(RmrOfDat2, WithoutTheFlagItIsAPlainSend) {
  const DAT_RMR_CONTEXT context = bound(make_rmr(), 0, 64);
  ASSERT_THAT(server_.post_recv(4096, 64), succeeds());
  ASSERT_THAT(send_invalidate(context, DAT_FALSE), succeeds());
  const auto received = next_completion(server_.recv_evd);
  EXPECT_EQ(received.operation, DAT_DTO_RECEIVE);
  EXPECT_NE(received.rmr_context, context);  // void
  next_completion(client_.request_evd);
  EXPECT_EQ(write(context, 0), DAT_DTO_SUCCESS);
}

TEST_F(RmrOfDat2, InvalidatingWhatIsNoBoundRmrBreaksTheConnection) {
  ASSERT_THAT(server_.post_recv(4096, 64), succeeds());
  ASSERT_THAT(send_invalidate(server_.memory->rmr_context()), succeeds());
  EXPECT_EQ(next_completion(client_.request_evd).status, DAT_DTO_ERR_REMOTE_ACCESS);
  EXPECT_EQ(next_completion(server_.recv_evd).status, DAT_DTO_ERR_FLUSHED);
  expect_broken();
}

TEST_F(RmrOfDat2, InvalidatingSendChecksItsArguments) {
  EXPECT_THAT(send_invalidate(1, static_cast<DAT_BOOLEAN>(7)), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6));
  EXPECT_THAT(send_invalidate(1, DAT_TRUE, 0x4000), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5));
  EXPECT_THAT(dat_ep_post_send_with_invalidate(client_.ep, 1, nullptr, make_cookie(1), DAT_COMPLETION_DEFAULT_FLAG,
                                               DAT_TRUE, 1),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  expect_conversation(server_, client_);
}

TEST_F(RmrOfDat2, ReadIntoAnRmrLandsThere) {
  if (const Lack lack = lack_of_simulation(); !lack.empty()) GTEST_SKIP() << lack;
  const DAT_RMR_CONTEXT context = bound(make_rmr(), 0, 8192);
  client_.memory->fill(0, 5000, 6);
  const DAT_RMR_TRIPLET local = make_remote(server_.memory->data() + 100, 6000, context);
  ASSERT_THAT(read_to(local, client_.memory->remote(0, 5000)), succeeds());
  const auto done = next_completion(server_.request_evd);
  EXPECT_EQ(done.status, DAT_DTO_SUCCESS);
  EXPECT_EQ(done.operation, DAT_DTO_RDMA_READ);
  EXPECT_EQ(done.transfered_length, 5000u);
  EXPECT_EQ(done.user_cookie.as_64, 4u);
  const unsigned char* source = client_.memory->data();
  EXPECT_TRUE(are_same_bytes(source, server_.memory->data() + 100, 5000));
}

TEST_F(RmrOfDat2, ReadMayFollowTheBindWithoutWaiting) {
  if (const Lack lack = lack_of_simulation(); !lack.empty()) GTEST_SKIP() << lack;
  const DAT_RMR_HANDLE rmr = make_rmr();
  for (unsigned round = 0; round < 50; ++round) {
    client_.memory->fill(0, 64, round);
    DAT_RMR_CONTEXT context = 0;
    ASSERT_THAT(
        bind(rmr, server_.memory->local(0, 64), DAT_MEM_PRIV_REMOTE_WRITE_FLAG, &context, DAT_COMPLETION_SUPPRESS_FLAG),
        succeeds());
    ASSERT_THAT(read_to(make_remote(server_.memory->data(), 64, context), client_.memory->remote(0, 64)), succeeds());
    ASSERT_EQ(next_completion(server_.request_evd).status, DAT_DTO_SUCCESS);
    EXPECT_TRUE(server_.memory->holds(0, 64, round));
  }
}

TEST_F(RmrOfDat2, ReadIntoAnRmrChecksKeyRangeRightAndLength) {
  if (const Lack lack = lack_of_simulation(); !lack.empty()) GTEST_SKIP() << lack;
  const DAT_RMR_CONTEXT readable = bound(make_rmr(), 0, 64, DAT_MEM_PRIV_REMOTE_READ_FLAG);
  const DAT_RMR_CONTEXT writable = bound(make_rmr(), 0, 64, DAT_MEM_PRIV_REMOTE_WRITE_FLAG);
  const DAT_RMR_TRIPLET remote = client_.memory->remote(0, 64);
  unsigned char* at = server_.memory->data();
  EXPECT_THAT(read_to(make_remote(at, 64, readable), remote), fails_with(DAT_PRIVILEGES_VIOLATION));
  EXPECT_THAT(read_to(make_remote(at, 64, writable ^ 0x00ffff00u), remote), fails_with(DAT_PRIVILEGES_VIOLATION));
  EXPECT_THAT(read_to(make_remote(at + 1, 64, writable), remote), fails_with(DAT_INVALID_PARAMETER));
  EXPECT_THAT(read_to(make_remote(at, 63, writable), remote), fails_with(DAT_LENGTH_ERROR));
  EXPECT_THAT(read_to(make_remote(at, 64, writable), remote, 0x4000),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5));
  EXPECT_THAT(dat_ep_post_rdma_read_to_rmr(server_.ep, nullptr, make_cookie(1), &remote, DAT_COMPLETION_DEFAULT_FLAG),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  EXPECT_THAT(dat_ep_post_rdma_read_to_rmr(server_.ep, &remote, make_cookie(1), nullptr, DAT_COMPLETION_DEFAULT_FLAG),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
  expect_conversation(server_, client_);
}

// The context of an LMR that peers may write does as well.
TEST_F(RmrOfDat2, ReadIntoAnLmrByItsRmrContextLandsThere) {
  client_.memory->fill(0, 64, 9);
  ASSERT_THAT(read_to(server_.memory->remote(0, 64), client_.memory->remote(0, 64)), succeeds());
  EXPECT_EQ(next_completion(server_.request_evd).status, DAT_DTO_SUCCESS);
  EXPECT_TRUE(server_.memory->holds(0, 64, 9));
}

}  // namespace
}  // namespace softdat::conformance

#endif
