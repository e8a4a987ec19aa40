// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/nasty/placing.h"

#include <gtest/gtest.h>

#include <vector>

namespace softdat::simnic::nasty {
namespace {

constexpr std::size_t kLengths[] = {1, 7, 8, 9, 16, 63, 64, 65, 100, 4096, 4097};

const std::byte* at(std::size_t address) {
  return reinterpret_cast<const std::byte*>(address);
}

TEST(Pieces, CoverEachByteOnceAndMeetAtAlignedAddresses) {
  for (const std::size_t length : kLengths) {
    for (std::uint64_t order = 0; order < 128; ++order) {
      const std::size_t address = 4096 + order / 16;
      const Pieces pieces(length, order % 16, at(address));
      std::vector<int> times(length);
      for (std::size_t i = 0; i < pieces.count(); ++i) {
        const Pieces::Piece piece = pieces.at(i);
        ASSERT_LT(piece.begin, piece.end) << length;
        EXPECT_TRUE(piece.begin == 0 || (address + piece.begin) % 8 == 0) << length << " at " << address;
        for (std::size_t byte = piece.begin; byte < piece.end; ++byte) ++times.at(byte);
      }
      for (const int count : times) ASSERT_EQ(count, 1) << "length " << length << ", order " << order;
    }
  }
}

TEST(Pieces, BeginWithTheLastByte) {
  for (const std::size_t length : kLengths) EXPECT_EQ(Pieces(length, 5, at(4099)).at(0).end, length);
}

TEST(Pieces, DifferentDrawsGiveDifferentOrders) {
  EXPECT_NE(Pieces(64, 1, at(4096)).at(1).begin, Pieces(64, 3, at(4096)).at(1).begin);
}

TEST(Pieces, AreCopiedAcrossSlices) {
  std::vector<std::byte> bytes(40);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i + 1);
  std::vector<std::byte> first(13), second(27);
  const transport::Slice slices[] = {{first.data(), first.size()}, {second.data(), second.size()}};
  const Pieces pieces(bytes.size(), 7, first.data());
  for (std::size_t i = 0; i < pieces.count(); ++i) EXPECT_TRUE(copy_piece(slices, bytes, pieces.at(i)));
  first.insert(first.end(), second.begin(), second.end());
  EXPECT_EQ(first, bytes);
}

}  // namespace
}  // namespace softdat::simnic::nasty
