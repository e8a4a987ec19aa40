// SPDX-License-Identifier: BSD-2-Clause
// A retirement takes all pages away from the peer. Without memory it takes none, and can be repeated.
#include <linux/futex.h>
#include <sys/syscall.h>

#include <atomic>
#include <cerrno>
#include <ctime>
#include <new>
#include <optional>
#include <thread>

#include "tests/asleep.h"
#include "tests/memory/pages.h"
#include "tests/scarce_memory.h"

namespace softdat::memory::testing {
namespace {

using scarce_memory::allocations_left;

constexpr int kMostAllocations = 100;

// How many bytes were replaced with so much memory; nothing if that was not enough.
std::optional<std::uint64_t> retire_with(Arena& arena, const Retirement& retirement, int allocations) try {
  allocations_left = allocations;
  const std::uint64_t bytes = arena.retire({&retirement, 1});
  allocations_left = -1;
  return bytes;
} catch (const std::bad_alloc&) {
  allocations_left = -1;
  return std::nullopt;
}

class RetireTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!is_supported()) GTEST_SKIP() << "no userfaultfd here";
    arena_ = Arena::create();
    ASSERT_NE(arena_, nullptr);
    const auto offset = arena_->share(pages_.address(), pages_.size());
    ASSERT_TRUE(offset.has_value());
    retirement_ = {.pages = {*offset, *offset + pages_.size()},
                   .hold = {.peer = this, .place = 1, .word = 1, .is_over = [] { return false; }}};
  }
  // Until there is just enough of it.
  void retire_with_ever_more_memory() {
    std::optional<std::uint64_t> replaced;
    for (int count = 0; !replaced; ++count) {
      ASSERT_LT(count, kMostAllocations);
      replaced = retire_with(*arena_, retirement_, count);
    }
    EXPECT_EQ(*replaced, pages_.size());
  }

  Pages pages_{4};
  std::unique_ptr<Arena> arena_;
  Retirement retirement_;
};

TEST_F(RetireTest, WhatFailedForWantOfMemoryIsDoneTheNextTime) {
  ASSERT_NO_FATAL_FAILURE(retire_with_ever_more_memory());
  pages_.data()[5] = std::byte{3};
  EXPECT_EQ(read_arena(*arena_, retirement_.pages.begin + 5), std::byte{0});
  EXPECT_EQ(arena_->retire({&retirement_, 1}), 0u);
}

// A semaphore that processes share is such a futex.
TEST_F(RetireTest, ThreadsThatSleepThereAreWokenWithoutMemory) {
  std::atomic<int> id{0};
  std::atomic<long> answer{-1};
  std::thread sleeper([&] {
    constexpr timespec kLong{.tv_sec = 300, .tv_nsec = 0};
    id.store(static_cast<int>(::syscall(SYS_gettid)));
    answer.store(::syscall(SYS_futex, pages_.data() + kPage + 128, FUTEX_WAIT, 0, &kLong, nullptr, 0));
  });
  while (id.load() == 0) std::this_thread::yield();
  await_asleep(id.load());
  retire_with_ever_more_memory();
  sleeper.join();
  EXPECT_EQ(answer.load(), 0);
}

}  // namespace
}  // namespace softdat::memory::testing
