// SPDX-License-Identifier: BSD-2-Clause
// dat_srq_create, dat_srq_free, dat_srq_query, dat_srq_resize.
#include <gtest/gtest.h>

#include "tests/conformance/lacks.h"
#include "tests/conformance/shared_server.h"

namespace softdat::conformance {
namespace {

class Srq : public testing::Test {
 protected:
  DAT_RETURN create(DAT_SRQ_ATTR attributes, DAT_SRQ_HANDLE& srq) {
    return dat_srq_create(server_.peer.adapter.handle(), server_.peer.pz, &attributes, &srq);
  }
  void expect_refused(const DAT_SRQ_ATTR& attributes) {
    DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
    EXPECT_THAT(create(attributes, srq), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
    EXPECT_EQ(srq, DAT_HANDLE_NULL);
  }
  void expect_counts(DAT_COUNT available, DAT_COUNT outstanding) {
    const DAT_SRQ_PARAM param = server_.query();
    EXPECT_EQ(param.available_dto_count, available);
    EXPECT_EQ(param.outstanding_dto_count, outstanding);
  }

  SharedServer server_;
};

TEST_F(Srq, IsCreatedWithAtLeastWhatWasAskedFor) {
  DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
  ASSERT_THAT(create(srq_attributes(10, 3), srq), succeeds());
  DAT_SRQ_PARAM param{};
  ASSERT_THAT(dat_srq_query(srq, DAT_SRQ_FIELD_ALL, &param), succeeds());
  EXPECT_EQ(param.ia_handle, server_.peer.adapter.handle());
  EXPECT_EQ(param.pz_handle, server_.peer.pz);
  EXPECT_EQ(param.srq_state, DAT_SRQ_STATE_OPERATIONAL);
  EXPECT_GE(param.max_recv_dtos, 10);
  EXPECT_GE(param.max_recv_iov, 3);
  EXPECT_EQ(param.low_watermark, DAT_SRQ_LW_DEFAULT);
  EXPECT_EQ(param.available_dto_count, 0);
  EXPECT_EQ(param.outstanding_dto_count, 0);
}

TEST_F(Srq, IsAttachedToNoEndpoint) {
  EXPECT_THAT(dat_srq_free(server_.srq), succeeds());
}

TEST_F(Srq, TheDefaultWatermarkTellsNothing) {
  server_.connect_client();
  EXPECT_TRUE(is_quiet(server_.peer.adapter.async_evd()));
}

TEST_F(Srq, AnyOtherWatermarkIsToldAtOnce) {
  const SharedServer other(8, 1);
  other.next_low_event();
  EXPECT_EQ(other.query().low_watermark, 1);
}

TEST_F(Srq, BadAttributesAreInvalid) {
  const DAT_IA_ATTR limits = server_.peer.adapter.attributes();
  expect_refused(srq_attributes(0));
  expect_refused(srq_attributes(-1));
  expect_refused(srq_attributes(limits.max_recv_per_srq + 1));
  expect_refused(srq_attributes(8, -1));
  expect_refused(srq_attributes(8, limits.max_iov_segments_per_dto + 1000));
  expect_refused(srq_attributes(8, 1, -1));
  expect_refused(srq_attributes(8, 1, 9));
}

TEST_F(Srq, NullArgumentsAreInvalid) {
  DAT_SRQ_ATTR attributes = srq_attributes(8);
  DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
  const DAT_IA_HANDLE ia = server_.peer.adapter.handle();
  EXPECT_THAT(dat_srq_create(ia, server_.peer.pz, nullptr, &srq), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  EXPECT_THAT(dat_srq_create(ia, server_.peer.pz, &attributes, nullptr),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
}

TEST_F(Srq, BadHandlesAreInvalid) {
  DAT_SRQ_ATTR attributes = srq_attributes(8);
  DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
  EXPECT_THAT(dat_srq_create(DAT_HANDLE_NULL, server_.peer.pz, &attributes, &srq), fails_with(DAT_INVALID_HANDLE));
  EXPECT_THAT(dat_srq_create(server_.peer.adapter.handle(), DAT_HANDLE_NULL, &attributes, &srq),
              fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ));
  Peer stranger(kClientName);
  EXPECT_THAT(dat_srq_create(server_.peer.adapter.handle(), stranger.pz, &attributes, &srq),
              fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ));
}

TEST_F(Srq, AsManyAsTheAttributeSaysMayBeCreated) {
  if (const Lack lack = lack_of_simulation(); !lack.empty()) GTEST_SKIP() << lack;
  const DAT_COUNT most = server_.peer.adapter.attributes().max_srqs;
  ASSERT_GT(most, 1);
  std::vector<DAT_SRQ_HANDLE> all;
  DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
  DAT_RETURN last = DAT_SUCCESS;
  while (all.size() < static_cast<std::size_t>(most) && (last = create(srq_attributes(1, 1), srq)) == DAT_SUCCESS) {
    all.push_back(srq);
  }
  EXPECT_THAT(last, fails_with(DAT_INSUFFICIENT_RESOURCES));
  EXPECT_EQ(all.size(), static_cast<std::size_t>(most - 1));  // the server has one already
  for (const DAT_SRQ_HANDLE each : all) ASSERT_THAT(dat_srq_free(each), succeeds());
  EXPECT_THAT(create(srq_attributes(1, 1), srq), succeeds());
}

TEST_F(Srq, TheAttributesTellTheLimits) {
  const DAT_IA_ATTR limits = server_.peer.adapter.attributes();
  EXPECT_GE(limits.max_ep_per_srq, 1000);
  EXPECT_GE(limits.max_recv_per_srq, 1000);
  DAT_PROVIDER_ATTR provider{};
  require(dat_ia_query(server_.peer.adapter.handle(), nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &provider),
          "dat_ia_query");
  EXPECT_GT(provider.srq_info_supported, 0);
  EXPECT_GT(provider.ep_recv_info_supported, 0);
}

TEST_F(Srq, IsNotFreedWhileAnEndpointUsesIt) {
  const DAT_EP_HANDLE first = server_.make_endpoint();
  const DAT_EP_HANDLE second = server_.make_endpoint();
  EXPECT_THAT(dat_srq_free(server_.srq), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_SRQ_IN_USE));
  require(dat_ep_free(first), "dat_ep_free");
  EXPECT_THAT(dat_srq_free(server_.srq), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_SRQ_IN_USE));
  EXPECT_EQ(server_.query().srq_state, DAT_SRQ_STATE_OPERATIONAL);
  require(dat_ep_free(second), "dat_ep_free");
  EXPECT_THAT(dat_srq_free(server_.srq), succeeds());
}

TEST_F(Srq, IsFreedWithBuffersLeftAndWithoutCompletions) {
  server_.post_many(3);
  EXPECT_THAT(dat_srq_free(server_.srq), succeeds());
  EXPECT_TRUE(is_quiet(server_.peer.recv_evd));
}

TEST_F(Srq, AFreedHandleIsInvalidInEveryCall) {
  require(dat_srq_free(server_.srq), "dat_srq_free");
  const auto refused = fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ);
  DAT_SRQ_PARAM param{};
  EXPECT_THAT(dat_srq_free(server_.srq), refused);
  EXPECT_THAT(server_.post_empty(), refused);
  EXPECT_THAT(dat_srq_query(server_.srq, DAT_SRQ_FIELD_ALL, &param), refused);
  EXPECT_THAT(dat_srq_resize(server_.srq, 16), refused);
  EXPECT_THAT(dat_srq_set_lw(server_.srq, 1), refused);
  const DAT_EP_ATTR attributes = default_attributes();
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  EXPECT_THAT(dat_ep_create_with_srq(server_.peer.adapter.handle(), server_.peer.pz, server_.peer.recv_evd,
                                     server_.peer.request_evd, server_.peer.connect_evd, server_.srq, &attributes, &ep),
              refused);
}

TEST_F(Srq, KeepsItsZoneInUse) {
  const DAT_PZ_HANDLE pz = server_.peer.adapter.make_pz();
  DAT_SRQ_ATTR attributes = srq_attributes(8);
  DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
  ASSERT_THAT(dat_srq_create(server_.peer.adapter.handle(), pz, &attributes, &srq), succeeds());
  EXPECT_THAT(dat_pz_free(pz), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_PZ_IN_USE));
  ASSERT_THAT(dat_srq_free(srq), succeeds());
  EXPECT_THAT(dat_pz_free(pz), succeeds());
}

TEST_F(Srq, HindersAGracefulCloseOfItsAdapter) {
  Adapter adapter;
  DAT_SRQ_ATTR attributes = srq_attributes(8);
  DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
  ASSERT_THAT(dat_srq_create(adapter.handle(), adapter.make_pz(), &attributes, &srq), succeeds());
  EXPECT_THAT(dat_ia_close(adapter.handle(), DAT_CLOSE_GRACEFUL_FLAG), fails_with(DAT_INVALID_STATE));
}

// The page's example, number by number.
TEST_F(Srq, QueryCountsAsThePagesExampleDoes) {
  if (const Lack lack = lack_of_shared_resizing(); !lack.empty()) GTEST_SKIP() << lack;
  ASSERT_THAT(dat_srq_resize(server_.srq, 10), succeeds());
  server_.connect_client();
  server_.post_many(3);
  EXPECT_EQ(server_.query().max_recv_dtos, 10);
  expect_counts(3, 3);
  server_.send(0);
  next_completion(server_.clients[0]->request_evd);  // it has arrived
  expect_counts(2, 3);
  next_completion(server_.peer.recv_evd);
  expect_counts(2, 2);
}

TEST_F(Srq, QueryRefusesUnknownBitsAndNull) {
  DAT_SRQ_PARAM param{};
  param.max_recv_dtos = -77;
  EXPECT_THAT(dat_srq_query(server_.srq, static_cast<DAT_SRQ_PARAM_MASK>(0x40000000), &param),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  EXPECT_THAT(dat_srq_query(server_.srq, DAT_SRQ_FIELD_ALL, nullptr),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  EXPECT_EQ(param.max_recv_dtos, -77);
  EXPECT_THAT(dat_srq_query(server_.srq, DAT_SRQ_FIELD_AVAILABLE_DTO_COUNT, &param), succeeds());
  EXPECT_EQ(param.available_dto_count, 0);
}

TEST_F(Srq, ResizingChangesTheSizeAndLosesNothing) {
  if (const Lack lack = lack_of_shared_resizing(); !lack.empty()) GTEST_SKIP() << lack;
  server_.connect_client();
  server_.post_many(8);
  ASSERT_THAT(server_.post_empty(), fails_with(DAT_INSUFFICIENT_RESOURCES));
  ASSERT_THAT(dat_srq_resize(server_.srq, 12), succeeds());
  EXPECT_EQ(server_.query().max_recv_dtos, 12);
  expect_counts(8, 8);
  server_.post_many(4);
  ASSERT_THAT(server_.post_empty(), fails_with(DAT_INSUFFICIENT_RESOURCES));
  for (int i = 0; i < 12; ++i) EXPECT_EQ(server_.take(0).status, DAT_DTO_SUCCESS);
  ASSERT_THAT(dat_srq_resize(server_.srq, 1), succeeds());
  EXPECT_EQ(server_.query().max_recv_dtos, 1);
}

TEST_F(Srq, DoesNotShrinkBelowWhatIsOutstandingReapedOrNot) {
  server_.connect_client();
  server_.post_many(4);
  EXPECT_THAT(dat_srq_resize(server_.srq, 3), fails_with(DAT_INVALID_STATE));
  server_.send(0);
  next_completion(server_.clients[0]->request_evd);
  EXPECT_THAT(dat_srq_resize(server_.srq, 3), fails_with(DAT_INVALID_STATE));
  EXPECT_EQ(server_.query().max_recv_dtos, 8);
  next_completion(server_.peer.recv_evd);
  EXPECT_THAT(dat_srq_resize(server_.srq, 3), succeeds());
}

TEST_F(Srq, DoesNotShrinkBelowTheLowWatermark) {
  ASSERT_THAT(dat_srq_set_lw(server_.srq, 5), succeeds());
  EXPECT_THAT(dat_srq_resize(server_.srq, 4), fails_with(DAT_INVALID_STATE));
  EXPECT_EQ(server_.query().max_recv_dtos, 8);
  EXPECT_THAT(dat_srq_resize(server_.srq, 5), succeeds());
}

TEST_F(Srq, ResizingToNothingOrBeyondTheAdapterIsInvalid) {
  const auto refused = fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
  EXPECT_THAT(dat_srq_resize(server_.srq, 0), refused);
  EXPECT_THAT(dat_srq_resize(server_.srq, -1), refused);
  EXPECT_THAT(dat_srq_resize(server_.srq, server_.peer.adapter.attributes().max_recv_per_srq + 1), refused);
  EXPECT_EQ(server_.query().max_recv_dtos, 8);
}

TEST_F(Srq, MessagesThatComeWhileItIsResizedAreNotLost) {
  if (const Lack lack = lack_of_shared_resizing(); !lack.empty()) GTEST_SKIP() << lack;
  server_.connect_client();
  for (int round = 0; round < 20; ++round) {
    server_.post_many(2);
    server_.send(0);
    ASSERT_THAT(dat_srq_resize(server_.srq, 8 + round), succeeds());
    server_.send(0);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(next_completion(server_.peer.recv_evd).status, DAT_DTO_SUCCESS);
      EXPECT_EQ(next_completion(server_.clients[0]->request_evd).status, DAT_DTO_SUCCESS);
    }
  }
}

}  // namespace
}  // namespace softdat::conformance
