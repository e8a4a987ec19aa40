// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/private_data.h"

#include <gtest/gtest.h>

#include <cstring>

namespace softdat::verbs {
namespace {

// As the connection manager hands it over: InfiniBand's reply is longer than its request.
hca::Bytes carry(const OutgoingPrivateData& data, std::size_t padded_to) {
  hca::Bytes carried(std::max<std::size_t>(padded_to, data.size()));
  if (data.size() > 0) std::memcpy(carried.data(), data.data(), data.size());
  return carried;
}

TEST(PrivateDataTest, InfiniBandKeepsEveryLength) {
  for (const std::size_t padding : {std::size_t{56}, std::size_t{148}, std::size_t{196}}) {
    for (std::size_t length = 0; length <= kMostOnInfiniBand; ++length) {
      const hca::Bytes sent(length, std::byte{0});
      EXPECT_EQ(incoming_private_data(carry(OutgoingPrivateData(sent, false), padding), false), sent) << length;
    }
  }
}

TEST(PrivateDataTest, IwarpCarriesNothingElse) {
  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, kMostOnIwarp}) {
    const hca::Bytes sent(length, std::byte{0x5a});
    const OutgoingPrivateData outgoing(sent, true);
    EXPECT_EQ(outgoing.size(), length);
    EXPECT_EQ(incoming_private_data(carry(outgoing, 0), true), sent);
  }
}

// A foreign peer's cannot be told from its padding.
TEST(PrivateDataTest, ForeignDataComesWhole) {
  hca::Bytes foreign(56, std::byte{0});
  foreign[0] = std::byte{1};
  EXPECT_EQ(incoming_private_data(foreign, false), foreign);
  EXPECT_EQ(incoming_private_data({}, false), hca::Bytes());
}

TEST(PrivateDataTest, RefusalIsTheMarkAlone) {
  const auto mark = refusal_mark();
  hca::Bytes carried(mark.begin(), mark.end());
  EXPECT_TRUE(is_refusal_mark(carried));
  carried.push_back(std::byte{0});
  EXPECT_FALSE(is_refusal_mark(carried));
  EXPECT_FALSE(is_refusal_mark({}));
}

}  // namespace
}  // namespace softdat::verbs
