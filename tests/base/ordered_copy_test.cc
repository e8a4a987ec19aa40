// SPDX-License-Identifier: BSD-2-Clause
#include "base/ordered_copy.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace softdat::base {
namespace {

using CopyFunction = bool (*)(std::byte*, const std::byte*, std::size_t);

void expect_good_copy(CopyFunction copy, std::size_t length, std::size_t shift) {
  constexpr std::size_t kRoom = 1024;
  std::vector<std::byte> from(kRoom);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + i / 256 + 1);
  std::vector<std::byte> to(kRoom, std::byte{0xEE});
  EXPECT_TRUE(copy(to.data() + shift, from.data() + 3, length));
  EXPECT_EQ(std::memcmp(to.data() + shift, from.data() + 3, length), 0) << length << " bytes to " << shift;
  EXPECT_EQ(to[shift + length], std::byte{0xEE});
  if (shift > 0) {
    EXPECT_EQ(to[shift - 1], std::byte{0xEE});
  }
}

TEST(OrderedCopy, CopiesEveryLengthAndAlignmentAndNothingBeside) {
  for (std::size_t length = 0; length <= 200; ++length) {
    for (std::size_t shift = 0; shift < 17; ++shift) {
      expect_good_copy(copy_ordered, length, shift);
      expect_good_copy(copy_in, length, shift);
    }
  }
}

// Lengths for which wider stores are used, where the processor has them.
TEST(OrderedCopy, CopiesLongRunsLikewise) {
  for (std::size_t length = 250; length <= 590; length += 1) {
    for (std::size_t shift = 0; shift < 33; ++shift) {
      expect_good_copy(copy_ordered, length, shift);
      expect_good_copy(copy_in, length, shift);
    }
  }
}

#if !defined(__SANITIZE_THREAD__)
// A reader that sees the tail must see all that stands before it. (The reader races on purpose, as programs that poll
// their memory do, so the test is left out under a race detector.)
TEST(OrderedCopy, TailIsStoredLast) {
  constexpr std::size_t kLength = 8192 + 5;
  std::vector<std::byte> to(kLength, std::byte{0});
  std::atomic<bool> stop{false};
  std::atomic<int> round{0};
  std::thread writer([&] {
    std::vector<std::byte> from(kLength);
    for (int i = 1; i <= 200; ++i) {
      std::memset(from.data(), i, kLength);
      if (!copy_ordered(to.data(), from.data(), kLength)) std::abort();
      round = i;
      while (round.load() == i && !stop) std::this_thread::yield();
    }
  });
  for (int i = 1; i <= 200; ++i) {
    const auto mark = static_cast<std::byte>(i);
    while (__atomic_load_n(reinterpret_cast<unsigned char*>(&to[kLength - 1]), __ATOMIC_ACQUIRE) !=
           std::to_integer<unsigned char>(mark)) {
    }
    for (std::size_t at = 0; at < kLength; ++at) ASSERT_EQ(to[at], mark) << "round " << i << " byte " << at;
    while (round.load() != i) std::this_thread::yield();
    round = -i;
  }
  stop = true;
  writer.join();
}
#endif

}  // namespace
}  // namespace softdat::base
