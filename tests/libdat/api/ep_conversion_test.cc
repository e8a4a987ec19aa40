// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/api/ep_conversion.h"

#include <gtest/gtest.h>

#include "libdat/api/iov.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

using object::EndpointAttributes;

EndpointAttributes all_different() {
  EndpointAttributes a;
  a.service_type = 0;
  a.max_message_size = 0xfffffff0;
  a.max_rdma_size = 0x80000000;
  a.qos = DAT_QOS_LOW_LATENCY;
  a.recv_completion_flags = DAT_COMPLETION_SOLICITED_WAIT_FLAG;
  a.request_completion_flags = DAT_COMPLETION_UNSIGNALLED_FLAG;
  a.max_recv_dtos = 1;
  a.max_request_dtos = 2;
  a.max_recv_iov = 3;
  a.max_request_iov = 4;
  a.max_rdma_read_in = 5;
  a.max_rdma_read_out = 6;
  a.srq_soft_hw = 7;
  a.max_rdma_read_iov = 8;
  a.max_rdma_write_iov = 9;
  return a;
}

// Compares what the layouts carry, member by member.
void expect_equal(const EndpointAttributes& a, const EndpointAttributes& b) {
  EXPECT_EQ(a.service_type, b.service_type);
  EXPECT_EQ(a.max_message_size, b.max_message_size);
  EXPECT_EQ(a.max_rdma_size, b.max_rdma_size);
  EXPECT_EQ(a.qos, b.qos);
  EXPECT_EQ(a.recv_completion_flags, b.recv_completion_flags);
  EXPECT_EQ(a.request_completion_flags, b.request_completion_flags);
  EXPECT_EQ(a.max_recv_dtos, b.max_recv_dtos);
  EXPECT_EQ(a.max_request_dtos, b.max_request_dtos);
  EXPECT_EQ(a.max_recv_iov, b.max_recv_iov);
  EXPECT_EQ(a.max_request_iov, b.max_request_iov);
  EXPECT_EQ(a.max_rdma_read_in, b.max_rdma_read_in);
  EXPECT_EQ(a.max_rdma_read_out, b.max_rdma_read_out);
  EXPECT_EQ(a.srq_soft_hw, b.srq_soft_hw);
  EXPECT_EQ(a.max_rdma_read_iov, b.max_rdma_read_iov);
  EXPECT_EQ(a.max_rdma_write_iov, b.max_rdma_write_iov);
}

TEST(EpConversion, AttributesComeBackAsTheyWent) {
  DAT_EP_ATTR between;
  write_attributes(all_different(), between);
  EndpointAttributes back;
  read_attributes(between, DAT_EP_FIELD_EP_ATTR_ALL, back);
  expect_equal(back, all_different());
  EXPECT_FALSE(has_named_attributes(between, DAT_EP_FIELD_ALL));
}

TEST(EpConversion, OnlyWhatTheMaskNamesIsRead) {
  DAT_EP_ATTR between;
  write_attributes(all_different(), between);
  EndpointAttributes back;
  read_attributes(between, DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV, back);
  EndpointAttributes expected;
  expected.max_recv_iov = 3;
  expect_equal(back, expected);
}

TEST(EpConversion, NamedAttributesAreSeenWhenTheMaskNamesThem) {
  DAT_EP_ATTR attributes{};
  attributes.ep_transport_specific_count = 1;
  EXPECT_TRUE(has_named_attributes(attributes, DAT_EP_FIELD_EP_ATTR_ALL));
  EXPECT_FALSE(has_named_attributes(attributes, DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR));
}

TEST(Iov, CarriesEveryTripletInOrder) {
  DAT_LMR_TRIPLET triplets[api::kLargestIov]{};
  for (int i = 0; i < api::kLargestIov; ++i) {
    triplets[i].virtual_address = 0x7f0000000000u + static_cast<unsigned>(i);
    triplets[i].segment_length = 0xffffffffu - static_cast<unsigned>(i);
    triplets[i].lmr_context = 0x80000000u + static_cast<unsigned>(i);
  }
  Iov iov;
  ASSERT_TRUE(iov.read(triplets, api::kLargestIov).ok());
  ASSERT_EQ(iov.segments().size(), static_cast<std::size_t>(api::kLargestIov));
  for (std::size_t i = 0; i < iov.segments().size(); ++i) {
    EXPECT_EQ(iov.segments()[i].address, 0x7f0000000000u + i);
    EXPECT_EQ(iov.segments()[i].length, 0xffffffffu - i);
    EXPECT_EQ(iov.segments()[i].lkey, 0x80000000u + i);
  }
}

// Another thread of the program may change its vector while a post is under way.
TEST(Iov, IsACopy) {
  DAT_LMR_TRIPLET triplets[2]{};
  triplets[0].segment_length = 8;
  for (const int count : {1, 2}) {
    Iov iov;
    ASSERT_TRUE(iov.read(triplets, count).ok());
    triplets[0].segment_length = 9;
    EXPECT_EQ(iov.segments().front().length, 8u);
    triplets[0].segment_length = 8;
  }
}

TEST(Iov, MayBeEmpty) {
  Iov iov;
  ASSERT_TRUE(iov.read(nullptr, 0).ok());
  EXPECT_TRUE(iov.segments().empty());
}

#if SOFTDAT_ABI == 12
TEST(Iov, LengthsBeyond32BitsAreRefused) {
  DAT_LMR_TRIPLET triplet{};
  triplet.segment_length = DAT_VLEN{1} << 32;
  Iov iov;
  EXPECT_EQ(iov.read(&triplet, 1), object::invalid_parameter(StatusDetail::kInvalidArg3));
}
#endif

}  // namespace
}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
