// SPDX-License-Identifier: BSD-2-Clause
// What an atomic request does to its word, masks included; and that none is lost among many.
#include "simnic/atomic_operation.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace softdat::simnic {
namespace {

constexpr std::uint64_t kAll = ~std::uint64_t{0};

struct Outcome {
  std::uint64_t original;
  std::uint64_t result;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome carry_out(transport::Message request, std::uint64_t value) {
  alignas(8) std::uint64_t word = value;
  const std::uint64_t original = carry_out_atomic(request, reinterpret_cast<std::byte*>(&word)).value();
  return {original, word};
}

transport::Message add(std::uint64_t addend, std::uint64_t mask = 0) {
  return {.atomic_code = transport::kFetchAddCode, .operand = addend, .operand_mask = mask};
}

transport::Message compare_swap(std::uint64_t compare, std::uint64_t swap, std::uint64_t compare_mask = kAll,
                                std::uint64_t swap_mask = kAll) {
  return {.atomic_code = transport::kCompareSwapCode,
          .operand = swap,
          .operand_mask = swap_mask,
          .compare = compare,
          .compare_mask = compare_mask};
}

TEST(AtomicOperation, FetchAddReturnsWhatWasThere) {
  EXPECT_EQ(carry_out(add(5), 37), (Outcome{37, 42}));
  EXPECT_EQ(carry_out(add(1), kAll), (Outcome{kAll, 0}));
}

TEST(AtomicOperation, AMaskedAddKeepsItsFieldsApart) {
  constexpr std::uint64_t kTwoFields = 1ull << 63 | 1ull << 31;
  EXPECT_EQ(carry_out(add(0x00000001'00000001, kTwoFields), 0x00000005'ffffffff),
            (Outcome{0x00000005'ffffffff, 0x00000006'00000000}));
}

TEST(AtomicOperation, SwapTakesTheMaskedBits) {
  const transport::Message swap{.atomic_code = transport::kSwapCode, .operand = 0xaaaa, .operand_mask = 0xff};
  EXPECT_EQ(carry_out(swap, 0x1234), (Outcome{0x1234, 0x12aa}));
}

TEST(AtomicOperation, CompareSwapSwapsOnlyWhatIsEqual) {
  EXPECT_EQ(carry_out(compare_swap(7, 9), 7), (Outcome{7, 9}));
  EXPECT_EQ(carry_out(compare_swap(7, 9), 8), (Outcome{8, 8}));
}

TEST(AtomicOperation, CompareSwapLooksAtAndChangesMaskedBitsOnly) {
  EXPECT_EQ(carry_out(compare_swap(0x34, 0xffff, 0xff, 0xff00), 0x1234), (Outcome{0x1234, 0xff34}));
  EXPECT_EQ(carry_out(compare_swap(0x35, 0xffff, 0xff, 0xff00), 0x1234), (Outcome{0x1234, 0x1234}));
}

TEST(AtomicOperation, KnowsTheCodesOfTheRfcAndNoOthers) {
  for (std::uint32_t code = 0; code < 16; ++code) EXPECT_EQ(is_known_atomic(code), code <= 2) << code;
}

// Plain adds, masked adds and the machine's own additions, all on one word.
TEST(AtomicOperation, NothingIsLostBesideOtherAtomics) {
  alignas(8) std::uint64_t word = 0;
  constexpr std::uint64_t kRounds = 20'000;
  const auto repeat = [&](const transport::Message& request) {
    for (std::uint64_t i = 0; i < kRounds; ++i) carry_out_atomic(request, reinterpret_cast<std::byte*>(&word));
  };
  std::vector<std::thread> threads;
  threads.emplace_back([&] { repeat(add(1)); });
  threads.emplace_back([&] { repeat(add(1, 1ull << 63)); });
  threads.emplace_back([&] {
    std::atomic_ref<std::uint64_t> own(word);
    for (std::uint64_t i = 0; i < kRounds; ++i) own.fetch_add(1);
  });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(word, 3 * kRounds);
}

}  // namespace
}  // namespace softdat::simnic
