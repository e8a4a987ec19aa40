// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/crc32c.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/transport/tcp/bytes.h"
#include "transport/tcp/crc32c_folding.h"

namespace softdat::transport::tcp {
namespace {

Bytes random_bytes(std::size_t length, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Bytes bytes(length);
  std::ranges::generate(bytes, [&] { return static_cast<std::byte>(random()); });
  return bytes;
}

// The vectors of RFC 3720, appendix B.4, and the check value of the CRC catalogues.
TEST(Crc32c, AgreesWithThePublishedVectors) {
  Bytes rising(32), falling(32);
  for (std::size_t i = 0; i < 32; ++i) rising[i] = falling[31 - i] = static_cast<std::byte>(i);
  for (const auto function : {crc32c, crc32c_portable}) {
    EXPECT_EQ(function(0, Bytes(32)), 0x8a9136aau);
    EXPECT_EQ(function(0, Bytes(32, std::byte{0xff})), 0x62a8ab43u);
    EXPECT_EQ(function(0, rising), 0x46dd794eu);
    EXPECT_EQ(function(0, falling), 0x113fdb5cu);
    EXPECT_EQ(function(0, hex("'123456789'")), 0xe3069283u);
    EXPECT_EQ(function(0, {}), 0u);
  }
}

using Checksum = std::uint32_t (*)(std::uint32_t, std::span<const std::byte>);

void expect_that_it_agrees(Checksum checksum) {
  const Bytes bytes = random_bytes(70000, 1);
  std::mt19937_64 random(2);
  for (std::size_t length = 0; length < 2000; ++length) {
    const auto part = std::span(bytes).subspan(random() % 64, length);
    ASSERT_EQ(checksum(7, part), crc32c_portable(7, part)) << length;
  }
  for (int i = 0; i < 200; ++i) {
    const std::size_t from = random() % 1000;
    const auto part = std::span(bytes).subspan(from, random() % (bytes.size() - from));
    ASSERT_EQ(checksum(0, part), crc32c_portable(0, part)) << part.size();
  }
}

TEST(Crc32c, InstructionAgreesAtEveryLengthAndAlignment) {
  if (!has_crc32c_instruction()) GTEST_SKIP() << "this processor has no CRC32C instruction";
  expect_that_it_agrees(crc32c_instruction);
}

TEST(Crc32c, FoldingAgreesAtEveryLengthAndAlignment) {
  if (!can_fold_crc32c()) GTEST_SKIP() << "this processor has no VPCLMULQDQ with AVX-512";
  expect_that_it_agrees(crc32c_folded);
}

TEST(Crc32c, CopyingOnTheWayCopiesAllAndSumsTheSame) {
  const Bytes bytes = random_bytes(70000, 4);
  std::mt19937_64 random(5);
  for (std::size_t i = 0; i < 1200; ++i) {
    const std::size_t length = i < 1000 ? i : random() % 69000;
    const auto from = std::span(bytes).subspan(random() % 64, length);
    const std::size_t skew = random() % 16;
    Bytes to(skew + length + 1, std::byte{0x5a});
    ASSERT_EQ(copy_crc32c(9, to.data() + skew, from), crc32c_portable(9, from)) << length;
    ASSERT_TRUE(std::ranges::equal(std::span(to).subspan(skew, length), from)) << length;
    ASSERT_EQ(to.back(), std::byte{0x5a}) << "not a byte beyond";
  }
}

TEST(Crc32c, GoesOnWhereItStopped) {
  const Bytes bytes = random_bytes(20000, 3);
  const std::uint32_t whole = crc32c(0, bytes);
  for (const std::size_t cut : {0u, 1u, 7u, 4096u, 19999u, 20000u}) {
    EXPECT_EQ(crc32c(crc32c(0, std::span(bytes).first(cut)), std::span(bytes).subspan(cut)), whole);
  }
}

}  // namespace
}  // namespace softdat::transport::tcp
