// SPDX-License-Identifier: BSD-2-Clause
// dat_lmr_create, dat_lmr_query, dat_lmr_free.
#include <gtest/gtest.h>

#include <vector>

#include "tests/conformance/lacks.h"
#include "tests/conformance/peer.h"

namespace softdat::conformance {
namespace {

struct Registration {
  DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
  DAT_LMR_CONTEXT lmr_context = 0;
  DAT_RMR_CONTEXT rmr_context = 0;
  DAT_VLEN size = 0;
  DAT_VADDR address = 0;
};

class Lmr : public testing::Test {
 protected:
  DAT_RETURN create(void* address, DAT_VLEN length, int privileges, Registration* out,
                    DAT_MEM_TYPE type = DAT_MEM_TYPE_VIRTUAL) {
    DAT_REGION_DESCRIPTION region{};
    region.for_va = address;
    return create_lmr(adapter_.handle(), type, region, length, pz_, static_cast<DAT_MEM_PRIV_FLAGS>(privileges),
                      &out->lmr, &out->lmr_context, &out->rmr_context, &out->size, &out->address);
  }

  Adapter adapter_;
  DAT_PZ_HANDLE pz_ = adapter_.make_pz();
  std::vector<unsigned char> bytes_ = std::vector<unsigned char>(16384);
};

TEST_F(Lmr, RegisteredRangeCoversTheBuffer) {
  Registration made;
  ASSERT_THAT(create(bytes_.data() + 3, 1000, DAT_MEM_PRIV_ALL_FLAG, &made), succeeds());
  const auto start = reinterpret_cast<std::uintptr_t>(bytes_.data() + 3);
  EXPECT_LE(made.address, start);
  EXPECT_GE(made.address + made.size, start + 1000);
}

TEST_F(Lmr, QueryTellsWhatItWasMadeWith) {
  Registration made;
  ASSERT_THAT(create(bytes_.data(), 4096, DAT_MEM_PRIV_ALL_FLAG, &made), succeeds());
  DAT_LMR_PARAM param{};
  ASSERT_THAT(dat_lmr_query(made.lmr, DAT_LMR_FIELD_ALL, &param), succeeds());
  EXPECT_EQ(param.ia_handle, adapter_.handle());
  EXPECT_EQ(param.mem_type, DAT_MEM_TYPE_VIRTUAL);
  EXPECT_EQ(param.region_desc.for_va, bytes_.data());
  EXPECT_EQ(param.length, 4096u);
  EXPECT_EQ(param.pz_handle, pz_);
  EXPECT_EQ(param.mem_priv, DAT_MEM_PRIV_ALL_FLAG);
  EXPECT_EQ(param.lmr_context, made.lmr_context);
  EXPECT_EQ(param.rmr_context, made.rmr_context);
  EXPECT_EQ(param.registered_size, made.size);
  EXPECT_EQ(param.registered_address, made.address);
}

TEST_F(Lmr, QueryRefusesUnknownBitsAndNull) {
  Registration made;
  ASSERT_THAT(create(bytes_.data(), 64, DAT_MEM_PRIV_ALL_FLAG, &made), succeeds());
  DAT_LMR_PARAM param{};
  EXPECT_THAT(dat_lmr_query(made.lmr, static_cast<DAT_LMR_PARAM_MASK>(0x8000), &param),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  EXPECT_THAT(dat_lmr_query(made.lmr, DAT_LMR_FIELD_ALL, nullptr), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
}

TEST_F(Lmr, OutputsBesideTheHandleAndItsContextAreOptional) {
  DAT_REGION_DESCRIPTION region{};
  region.for_va = bytes_.data();
  DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
  DAT_LMR_CONTEXT context = 0;
  EXPECT_THAT(create_lmr(adapter_.handle(), DAT_MEM_TYPE_VIRTUAL, region, 64, pz_, DAT_MEM_PRIV_ALL_FLAG, &lmr,
                         &context, nullptr, nullptr, nullptr),
              succeeds());
}

TEST_F(Lmr, MemoryCanBeRegisteredAgainAndOverlapping) {
  Registration first;
  Registration second;
  Registration third;
  EXPECT_THAT(create(bytes_.data(), 4096, DAT_MEM_PRIV_ALL_FLAG, &first), succeeds());
  EXPECT_THAT(create(bytes_.data(), 4096, DAT_MEM_PRIV_ALL_FLAG, &second), succeeds());
  EXPECT_THAT(create(bytes_.data() + 100, 4096, DAT_MEM_PRIV_ALL_FLAG, &third), succeeds());
  EXPECT_NE(first.lmr_context, second.lmr_context);
  EXPECT_NE(first.rmr_context, second.rmr_context);
  EXPECT_THAT(dat_lmr_free(first.lmr), succeeds());
  EXPECT_THAT(create(bytes_.data(), 4096, DAT_MEM_PRIV_ALL_FLAG, &first), succeeds());
}

TEST_F(Lmr, NothingCannotBeRegistered) {
  Registration made;
  EXPECT_THAT(create(nullptr, 0, DAT_MEM_PRIV_ALL_FLAG, &made), fails_with(DAT_LENGTH_ERROR));
  EXPECT_THAT(create(bytes_.data(), 0, DAT_MEM_PRIV_ALL_FLAG, &made), fails_with(DAT_LENGTH_ERROR));
  EXPECT_EQ(made.lmr, DAT_HANDLE_NULL);
}

TEST_F(Lmr, RangeThatWrapsAroundIsInvalid) {
  Registration made;
  EXPECT_THAT(create(bytes_.data(), ~DAT_VLEN{0}, DAT_MEM_PRIV_ALL_FLAG, &made), testing::Not(succeeds()));
  EXPECT_THAT(create(reinterpret_cast<void*>(~std::uintptr_t{0} - 10), 4096, DAT_MEM_PRIV_ALL_FLAG, &made),
              testing::Not(succeeds()));
  EXPECT_EQ(made.lmr, DAT_HANDLE_NULL);
}

TEST_F(Lmr, UnknownTypeAndPrivilegesAreInvalid) {
  Registration made;
  EXPECT_THAT(create(bytes_.data(), 64, 0x4000, &made), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6));
  EXPECT_THAT(create(bytes_.data(), 64, DAT_MEM_PRIV_ALL_FLAG, &made, static_cast<DAT_MEM_TYPE>(77)),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
}

TEST_F(Lmr, ZoneMustBeAlive) {
  ASSERT_THAT(dat_pz_free(pz_), succeeds());
  Registration made;
  EXPECT_THAT(create(bytes_.data(), 64, DAT_MEM_PRIV_ALL_FLAG, &made),
              fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ));
}

TEST_F(Lmr, FreedMemoryIsInvalid) {
  Registration made;
  ASSERT_THAT(create(bytes_.data(), 64, DAT_MEM_PRIV_ALL_FLAG, &made), succeeds());
  EXPECT_THAT(dat_lmr_free(made.lmr), succeeds());
  EXPECT_THAT(dat_lmr_free(made.lmr), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_LMR));
  DAT_LMR_PARAM param{};
  EXPECT_THAT(dat_lmr_query(made.lmr, DAT_LMR_FIELD_ALL, &param),
              fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_LMR));
}

// Freed memory is out of reach at once, locally and for the peer.
TEST(LmrOfAConnection, FreedContextCannotBePostedLocally) {
  ConnectedPair pair;
  DAT_LMR_TRIPLET segment = pair.client.memory->local(0, 64);
  pair.client.memory->deregister();
  EXPECT_THAT(dat_ep_post_send(pair.client.ep, 1, &segment, make_cookie(1), DAT_COMPLETION_DEFAULT_FLAG),
              testing::AnyOf(fails_with(DAT_PROTECTION_VIOLATION), fails_with(DAT_PRIVILEGES_VIOLATION)));
  EXPECT_EQ(pair.client.state(), DAT_EP_STATE_CONNECTED);
}

// "Any DTO operation that uses the destroyed LMR after the dat_lmr_free() is completed shall fail and report a
// protection violation": also one that was posted before.
TEST(LmrOfAConnection, ReceiveIntoFreedMemoryIsAProtectionViolation) {
  ConnectedPair pair;
  ASSERT_THAT(pair.server.post_recv(0, 64, 7), succeeds());
  pair.server.memory->deregister();
  ASSERT_THAT(pair.client.post_send(0, 64), succeeds());
  const auto completion = next_completion(pair.server.recv_evd);
  EXPECT_EQ(completion.status, DAT_DTO_ERR_LOCAL_PROTECTION);
  EXPECT_EQ(completion.user_cookie.as_64, 7u);
  next_event(pair.server.connect_evd, DAT_CONNECTION_EVENT_BROKEN);
}

TEST(LmrOfAConnection, FreedContextIsRefusedToThePeer) {
  if (const Lack lack = lack_of_refusals(); !lack.empty()) GTEST_SKIP() << lack;
  ConnectedPair pair;
  const DAT_RMR_TRIPLET target = pair.server.memory->remote(0, 64);
  pair.server.memory->deregister();
  ASSERT_THAT(pair.client.post_write(0, 64, target), succeeds());
  EXPECT_EQ(next_completion(pair.client.request_evd).status, DAT_DTO_ERR_REMOTE_ACCESS);
}

// Programs free memory while the endpoint is still connected.
TEST(LmrOfAConnection, FreeingUnderALiveConnectionDoesNotHarmIt) {
  ConnectedPair pair;
  {
    Memory other(pair.server.adapter.handle(), pair.server.pz, 4096);
    ASSERT_THAT(pair.client.post_write(0, 4096, other.remote(0, 4096)), succeeds());
    ASSERT_EQ(next_completion(pair.client.request_evd).status, DAT_DTO_SUCCESS);
  }
  expect_conversation(pair.server, pair.client);
}

}  // namespace
}  // namespace softdat::conformance
