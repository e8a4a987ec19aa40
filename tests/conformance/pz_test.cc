// SPDX-License-Identifier: BSD-2-Clause
// dat_pz_create, dat_pz_query, dat_pz_free.
#include <gtest/gtest.h>

#include "tests/conformance/peer.h"

namespace softdat::conformance {
namespace {

class Pz : public testing::Test {
 protected:
  Adapter adapter_;
  DAT_PZ_HANDLE pz_ = adapter_.make_pz();
};

TEST_F(Pz, ZonesAreDistinct) {
  EXPECT_NE(adapter_.make_pz(), pz_);
}

TEST_F(Pz, QueryNamesTheAdapter) {
  DAT_PZ_PARAM param{};
  EXPECT_THAT(dat_pz_query(pz_, DAT_PZ_FIELD_ALL, &param), succeeds());
  EXPECT_EQ(param.ia_handle, adapter_.handle());
}

TEST_F(Pz, QueryRefusesUnknownBitsAndNull) {
  DAT_PZ_PARAM param{};
  EXPECT_THAT(dat_pz_query(pz_, static_cast<DAT_PZ_PARAM_MASK>(0x80), &param),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  EXPECT_THAT(dat_pz_query(pz_, DAT_PZ_FIELD_ALL, nullptr), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
}

TEST_F(Pz, CreateRefusesNull) {
  EXPECT_THAT(dat_pz_create(adapter_.handle(), nullptr), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
}

TEST_F(Pz, FreedZoneIsInvalid) {
  EXPECT_THAT(dat_pz_free(pz_), succeeds());
  EXPECT_THAT(dat_pz_free(pz_), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ));
  DAT_PZ_PARAM param{};
  EXPECT_THAT(dat_pz_query(pz_, DAT_PZ_FIELD_ALL, &param), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ));
}

TEST_F(Pz, ZoneInUseByMemoryCannotBeFreed) {
  Memory memory(adapter_.handle(), pz_, 64);
  EXPECT_THAT(dat_pz_free(pz_), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_PZ_IN_USE));
  memory.deregister();
  EXPECT_THAT(dat_pz_free(pz_), succeeds());
}

TEST_F(Pz, ZoneInUseByAnEndpointCannotBeFreed) {
  const DAT_EVD_HANDLE evd = adapter_.make_evd(DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG);
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  ASSERT_THAT(dat_ep_create(adapter_.handle(), pz_, evd, evd, evd, nullptr, &ep), succeeds());
  EXPECT_THAT(dat_pz_free(pz_), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_PZ_IN_USE));
  ASSERT_THAT(dat_ep_free(ep), succeeds());
  EXPECT_THAT(dat_pz_free(pz_), succeeds());
}

}  // namespace
}  // namespace softdat::conformance
