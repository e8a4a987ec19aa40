// SPDX-License-Identifier: BSD-2-Clause
// dat_rmr_create, dat_rmr_query, dat_rmr_free, and what they have to do with dat_lmr_free and
// dat_pz_free.
#include "tests/conformance/rmr_world.h"

namespace softdat::conformance {
namespace {

class Rmr : public RmrWorld {};

TEST_F(Rmr, CreatingAndFreeingUsesTheZone) {
  const DAT_PZ_HANDLE pz = server_.adapter.make_pz();
  DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
  ASSERT_THAT(dat_rmr_create(pz, &rmr), succeeds());
  EXPECT_THAT(dat_pz_free(pz), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_PZ_IN_USE));
  EXPECT_THAT(dat_rmr_free(rmr), succeeds());
  EXPECT_THAT(dat_pz_free(pz), succeeds());
}

TEST_F(Rmr, ZoneMustBeAliveAndThereMustBeAPlace) {
  DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
  const DAT_PZ_HANDLE pz = server_.adapter.make_pz();
  EXPECT_THAT(dat_rmr_create(pz, nullptr), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  ASSERT_THAT(dat_pz_free(pz), succeeds());
  for (const DAT_HANDLE bad : {DAT_HANDLE_NULL, static_cast<DAT_HANDLE>(server_.ep), static_cast<DAT_HANDLE>(pz)}) {
    EXPECT_THAT(dat_rmr_create(bad, &rmr), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ));
  }
  EXPECT_EQ(rmr, DAT_HANDLE_NULL);
}

TEST_F(Rmr, ThousandsCanBeMade) {
  std::vector<DAT_RMR_HANDLE> rmrs;
  for (int i = 0; i < 3000; ++i) rmrs.push_back(make_rmr());
  for (const DAT_RMR_HANDLE rmr : rmrs) EXPECT_THAT(dat_rmr_free(rmr), succeeds());
  EXPECT_GE(server_.adapter.attributes().max_rmrs, 3000);
}

// "lmr_handle, target_address, segment_length, mem_privileges, and rmr_context are not defined for an
// unbound RMR"
TEST_F(Rmr, QueryOfAnUnboundRmrTellsItsZone) {
  const DAT_RMR_PARAM param = query(make_rmr());
  EXPECT_EQ(param.ia_handle, server_.adapter.handle());
  EXPECT_EQ(param.pz_handle, server_.pz);
  EXPECT_EQ(param.lmr_triplet.segment_length, 0u);
  EXPECT_EQ(param.rmr_context, 0u);
}

TEST_F(Rmr, QueryOfABoundRmrTellsWhatItIsBoundTo) {
  const DAT_RMR_HANDLE rmr = make_rmr();
  const DAT_RMR_CONTEXT context = bound(rmr, 100, 300, DAT_MEM_PRIV_ALL_FLAG);
  const DAT_RMR_PARAM param = query(rmr);
  EXPECT_EQ(param.ia_handle, server_.adapter.handle());
  EXPECT_EQ(param.pz_handle, server_.pz);
  EXPECT_EQ(param.lmr_triplet.lmr_context, server_.memory->lmr_context());
  EXPECT_EQ(param.lmr_triplet.virtual_address, reinterpret_cast<std::uintptr_t>(server_.memory->data() + 100));
  EXPECT_EQ(param.lmr_triplet.segment_length, 300u);
  EXPECT_EQ(param.mem_priv, DAT_MEM_PRIV_ALL_FLAG);
  EXPECT_EQ(param.rmr_context, context);
  unbind(rmr);
  EXPECT_EQ(query(rmr).lmr_triplet.segment_length, 0u);
  EXPECT_EQ(query(rmr).rmr_context, 0u);
}

TEST_F(Rmr, QueryRefusesUnknownBitsAndNull) {
  const DAT_RMR_HANDLE rmr = make_rmr();
  DAT_RMR_PARAM param{};
  EXPECT_THAT(dat_rmr_query(rmr, static_cast<DAT_RMR_PARAM_MASK>(0x800), &param),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  EXPECT_THAT(dat_rmr_query(rmr, DAT_RMR_FIELD_ALL, nullptr), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
}

// "Use of the handle of the destroyed RMR in any subsequent operation ... fails"
TEST_F(Rmr, FreedRmrIsAnInvalidHandle) {
  const DAT_RMR_HANDLE rmr = make_rmr();
  ASSERT_THAT(dat_rmr_free(rmr), succeeds());
  const auto invalid = fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_RMR);
  EXPECT_THAT(dat_rmr_free(rmr), invalid);
  DAT_RMR_PARAM param{};
  EXPECT_THAT(dat_rmr_query(rmr, DAT_RMR_FIELD_ALL, &param), invalid);
  DAT_RMR_CONTEXT context = 0;
  EXPECT_THAT(bind(rmr, server_.memory->local(0, 16), kReadAndWrite, &context), invalid);
}

// "allowed on either bound or unbound RMR"; "any remote RDMA operation that uses the destroyed RMR
// rmr_context ... fails and reports a protection violation"
TEST_F(Rmr, FreeingABoundRmrShutsItsContext) {
  const DAT_RMR_HANDLE rmr = make_rmr();
  const DAT_RMR_CONTEXT context = bound(rmr, 0, 64);
  EXPECT_EQ(write(context, 0), DAT_DTO_SUCCESS);
  ASSERT_THAT(dat_rmr_free(rmr), succeeds());
  EXPECT_EQ(write(context, 0), DAT_DTO_ERR_REMOTE_ACCESS);
  expect_broken();
}

// "The LMR cannot be destroyed if it is in use by an RMR"
TEST_F(Rmr, LmrCannotBeFreedWhileAnRmrIsBoundToIt) {
  const DAT_RMR_HANDLE rmr = make_rmr();
  const auto in_use = fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_LMR_IN_USE);
  bound(rmr, 0, 64);
  EXPECT_THAT(dat_lmr_free(server_.memory->lmr()), in_use);
  bound(rmr, 64, 64);
  EXPECT_THAT(dat_lmr_free(server_.memory->lmr()), in_use);
  expect_conversation(server_, client_);
  unbind(rmr);
  EXPECT_THAT(dat_lmr_free(server_.memory->lmr()), succeeds());
}

TEST_F(Rmr, FreeingTheRmrFreesTheLmrForFreeing) {
  const DAT_RMR_HANDLE one = make_rmr();
  const DAT_RMR_HANDLE two = make_rmr();
  bound(one, 0, 64);
  bound(two, 0, 64);
  ASSERT_THAT(dat_rmr_free(one), succeeds());
  EXPECT_THAT(dat_lmr_free(server_.memory->lmr()), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_LMR_IN_USE));
  ASSERT_THAT(dat_rmr_free(two), succeeds());
  EXPECT_THAT(dat_lmr_free(server_.memory->lmr()), succeeds());
}

// An abrupt close asks nobody.
TEST_F(Rmr, ClosingTheAdapterEndsBoundRmrs) {
  const DAT_RMR_HANDLE rmr = make_rmr();
  bound(rmr, 0, 64);
  ASSERT_THAT(dat_ia_close(server_.adapter.handle(), DAT_CLOSE_ABRUPT_FLAG), succeeds());
  server_.adapter.release();
  EXPECT_THAT(dat_rmr_free(rmr), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_RMR));
}

TEST_F(Rmr, GracefulCloseCountsRmrs) {
  Adapter adapter(kServerName);
  const DAT_PZ_HANDLE pz = adapter.make_pz();
  DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
  ASSERT_THAT(dat_rmr_create(pz, &rmr), succeeds());
  EXPECT_THAT(dat_ia_close(adapter.handle(), DAT_CLOSE_GRACEFUL_FLAG),
              fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_IA_IN_USE));
  ASSERT_THAT(dat_rmr_free(rmr), succeeds());
}

}  // namespace
}  // namespace softdat::conformance
