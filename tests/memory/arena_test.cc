// SPDX-License-Identifier: BSD-2-Clause
#include "memory/arena.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "tests/memory/pages.h"

namespace softdat::memory::testing {
namespace {

// An address that is free, at which malloc could begin a heap.
std::uint64_t find_heap_block() {
  constexpr std::uint64_t kHeapBlock = std::uint64_t{64} << 20;
  void* const room = ::mmap(nullptr, 3 * kHeapBlock, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  EXPECT_NE(room, MAP_FAILED);
  EXPECT_EQ(::munmap(room, 3 * kHeapBlock), 0);
  return (reinterpret_cast<std::uint64_t>(room) / kHeapBlock + 2) * kHeapBlock;
}

class ArenaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!is_supported()) GTEST_SKIP() << "no userfaultfd here";
    arena_ = Arena::create();
    ASSERT_NE(arena_, nullptr);
  }
  std::unique_ptr<Arena> arena_;
};

TEST_F(ArenaTest, MemoryKeepsItsBytesAndIsReadThere) {
  const Pages pages(100);
  for (std::size_t i = 0; i < pages.size(); ++i) pages.data()[i] = static_cast<std::byte>(i * 7);
  const auto offset = arena_->share(pages.address() + 5, pages.size() - 10);
  ASSERT_TRUE(offset.has_value());
  for (std::size_t i = 0; i < pages.size(); ++i) ASSERT_EQ(pages.data()[i], static_cast<std::byte>(i * 7));
  for (std::size_t i = 5; i < pages.size() - 5; i += 997) {
    EXPECT_EQ(read_arena(*arena_, *offset + i - 5), static_cast<std::byte>(i * 7));
  }
}

TEST_F(ArenaTest, LaterStoresAreSeenThere) {
  const Pages pages(2);
  const auto offset = arena_->share(pages.address(), pages.size());
  ASSERT_TRUE(offset.has_value());
  pages.data()[kPage + 3] = std::byte{42};
  EXPECT_EQ(read_arena(*arena_, *offset + kPage + 3), std::byte{42});
}

TEST_F(ArenaTest, WhatIsSharedAlreadyStaysWhereItIs) {
  const Pages pages(8);
  const auto first = arena_->share(pages.address() + kPage, kPage);
  const auto all = arena_->share(pages.address(), pages.size());
  ASSERT_TRUE(first.has_value() && all.has_value());
  EXPECT_EQ(*first, *all + kPage);
}

// What is in the file is no heap, whatever bytes the program stores there.
TEST_F(ArenaTest, SharedMemoryThatLooksLikeAHeapStaysWhereItIs) {
  const std::uint64_t wanted = find_heap_block();
  const Pages pages(2, MAP_PRIVATE | MAP_ANONYMOUS, wanted);
  ASSERT_EQ(pages.address(), wanted) << "the address is taken";
  const auto offset = arena_->share(pages.address(), pages.size());
  ASSERT_TRUE(offset.has_value());
  // As a heap of a thread begins: the place of its arena, and no heap before it.
  const std::uint64_t head[2] = {wanted + 0x30, 0};
  std::memcpy(pages.data(), head, sizeof head);
  ASSERT_TRUE(is_surely_heap(pages.address())) << "it looks like one";
  EXPECT_EQ(arena_->share(pages.address(), pages.size()), offset);
}

// The kernel stores into the control block when the thread changes processors, and would wait for the mover.
TEST_F(ArenaTest, WhatThreadsStandOnIsRefused) {
  const auto main_control = static_cast<std::uint64_t>(::pthread_self());
  const auto is_refused = [this](std::uint64_t address) { return !arena_->share(address, 8).has_value(); };
  EXPECT_TRUE(is_refused(main_control));
  EXPECT_TRUE(is_refused(reinterpret_cast<std::uint64_t>(&errno)));
  bool is_all_refused = false;
  std::thread([&] {
    is_all_refused = is_refused(main_control) && is_refused(static_cast<std::uint64_t>(::pthread_self())) &&
                     is_refused(reinterpret_cast<std::uint64_t>(&errno));
  }).join();
  EXPECT_TRUE(is_all_refused);
}

TEST_F(ArenaTest, StacksAndForeignMappingsAreRefused) {
  const Pages shared(1, MAP_SHARED | MAP_ANONYMOUS);
  const int here = 0;
  EXPECT_FALSE(arena_->share(shared.address(), kPage).has_value());
  EXPECT_FALSE(arena_->share(reinterpret_cast<std::uint64_t>(&here), sizeof here).has_value());
  EXPECT_FALSE(arena_->share(0, kPage).has_value());
  EXPECT_FALSE(arena_->share(~std::uint64_t{0} - 10, 5).has_value());
}

// A child of this process has to find them in order, whatever other threads allocate while it is made.
// A program that supplies its pages itself, perhaps with the very thread that registers them.
TEST_F(ArenaTest, MemoryThatAUserfaultfdOfTheProgramSuppliesIsRefusedAndNotTouched) {
  const Pages pages(4);
  ASSERT_EQ(::madvise(pages.data(), pages.size(), MADV_DONTNEED), 0);
  const base::UniqueFd faults(static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK)));
  uffdio_api api = {};
  api.api = UFFD_API;
  const uffdio_range range = {.start = pages.address(), .len = pages.size()};
  uffdio_register registration = {.range = range, .mode = UFFDIO_REGISTER_MODE_MISSING, .ioctls = 0};
  if (!faults || ::ioctl(faults.get(), UFFDIO_API, &api) != 0) GTEST_SKIP() << "no userfaultfd without privileges";
  ASSERT_EQ(::ioctl(faults.get(), UFFDIO_REGISTER, &registration), 0);
  int over[2];
  ASSERT_EQ(::pipe(over), 0);
  std::atomic<int> asked{0};
  std::thread supplier([&] {
    pollfd waits[] = {{faults.get(), POLLIN, 0}, {over[0], POLLHUP, 0}};
    for (; ::poll(waits, 2, -1) > 0 && waits[1].revents == 0; ++asked) {
      uffd_msg message;
      uffdio_zeropage zeros = {.range = range, .mode = 0, .zeropage = 0};
      static_cast<void>(::read(faults.get(), &message, sizeof message));
      static_cast<void>(::ioctl(faults.get(), UFFDIO_ZEROPAGE, &zeros));
    }
  });
  EXPECT_FALSE(arena_->share(pages.address(), pages.size()).has_value());
  ::close(over[1]);
  supplier.join();
  ::close(over[0]);
  EXPECT_EQ(asked, 0);
}

TEST_F(ArenaTest, HeapsOfMallocAreRefused) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "malloc is the sanitizer's";
#endif
  const auto is_shared = [&](std::size_t length) {
    const std::unique_ptr<unsigned char[]> memory(new unsigned char[length]);
    return arena_->share(reinterpret_cast<std::uint64_t>(memory.get()), length).has_value();
  };
  EXPECT_FALSE(is_shared(100));
  EXPECT_FALSE(is_shared(3 * kPage));
  std::thread([&] {
    EXPECT_FALSE(is_shared(100));
    EXPECT_FALSE(is_shared(3 * kPage));
  }).join();
}

TEST_F(ArenaTest, ARangeWithAHoleIsRefusedAndUntouched) {
  const Pages pages(3);
  pages.data()[0] = std::byte{1};
  ::munmap(pages.data() + kPage, kPage);
  EXPECT_FALSE(arena_->share(pages.address(), pages.size()).has_value());
  EXPECT_EQ(pages.data()[0], std::byte{1});
}

TEST_F(ArenaTest, UnmappedMemoryIsMovedAnewWhenItsAddressComesBack) {
  Pages pages(4);
  ASSERT_TRUE(arena_->share(pages.address(), pages.size()).has_value());
  std::memset(pages.data(), 1, pages.size());
  ASSERT_EQ(::mmap(pages.data(), pages.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
            pages.data());
  const auto offset = arena_->share(pages.address(), pages.size());
  ASSERT_TRUE(offset.has_value());
  EXPECT_EQ(read_arena(*arena_, *offset), std::byte{0});
  EXPECT_EQ(pages.data()[0], std::byte{0});
}

TEST_F(ArenaTest, MemoryThatMallocGrowsIsNotTakenOverItsNeighbours) {
  constexpr std::size_t kSize = std::size_t{1} << 20;
  auto* memory = static_cast<unsigned char*>(std::malloc(kSize));
  std::memset(memory, 3, kSize);
  ASSERT_TRUE(arena_->share(reinterpret_cast<std::uint64_t>(memory), kSize).has_value());
  auto* grown = static_cast<unsigned char*>(std::realloc(memory, 4 * kSize));
  ASSERT_NE(grown, nullptr);
  for (std::size_t i = 0; i < kSize; i += 4096) ASSERT_EQ(grown[i], 3);
  std::memset(grown + kSize, 4, 3 * kSize);
  for (std::size_t i = 0; i < kSize; i += 4096) ASSERT_EQ(grown[i], 3);
  std::free(grown);
}

TEST_F(ArenaTest, MemoryThatComesAndGoesIsGivenBack) {
  constexpr std::size_t kRounds = 64;
  for (std::size_t i = 0; i < kRounds; ++i) {
    const Pages pages(1024);
    ASSERT_TRUE(arena_->share(pages.address(), pages.size()).has_value());
  }
  struct stat status = {};
  ASSERT_EQ(::fstat(arena_->file(), &status), 0);
  EXPECT_LT(static_cast<std::size_t>(status.st_blocks) * 512, kRounds * 1024 * kPage / 2);
}

// Others, that have come since, have made the arena look what still stands.
void move_much(Arena& arena) {
  for (int i = 0; i < 20; ++i) {
    const Pages pages(1024);
    ASSERT_TRUE(arena.share(pages.address(), pages.size()).has_value());
  }
}

TEST_F(ArenaTest, MemoryThatIsProtectedMeanwhileIsNotGivenBack) {
  const Pages pages(4);
  ASSERT_TRUE(arena_->share(pages.address(), pages.size()).has_value());
  std::memset(pages.data(), 5, pages.size());
  ASSERT_EQ(::mprotect(pages.data(), pages.size(), PROT_READ), 0);
  move_much(*arena_);
  EXPECT_EQ(pages.data()[0], std::byte{5});
  EXPECT_FALSE(arena_->share(pages.address(), pages.size()).has_value());
}

TEST_F(ArenaTest, MemoryThatIsMovedAwayIsNotGivenBack) {
  const Pages pages(4);
  const Pages elsewhere(4);
  ASSERT_TRUE(arena_->share(pages.address(), pages.size()).has_value());
  std::memset(pages.data(), 6, pages.size());
  ASSERT_EQ(::mremap(pages.data(), pages.size(), pages.size(), MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere.data()),
            elsewhere.data());
  move_much(*arena_);
  EXPECT_EQ(elsewhere.data()[0], std::byte{6});
  EXPECT_FALSE(arena_->share(elsewhere.address(), elsewhere.size()).has_value());
}

// The arena looks what still stands, and must not take what it does not see for what has gone.
TEST_F(ArenaTest, MemoryIsKeptWhereTheMapCannotBeRead) {
  if (!kMayLackMemory) GTEST_SKIP() << "a sanitizer needs memory of its own";
  const Pages pages(4);
  ASSERT_TRUE(arena_->share(pages.address(), pages.size()).has_value());
  std::memset(pages.data(), 7, pages.size());
  std::vector<std::unique_ptr<Pages>> others;
  for (int i = 0; i < 20; ++i) others.push_back(std::make_unique<Pages>(1024));
  {
    const ScarceLimit memory(RLIMIT_DATA, kPage);
    for (const auto& other : others) static_cast<void>(arena_->share(other->address(), other->size()));
  }
  EXPECT_EQ(pages.data()[0], std::byte{7});
  EXPECT_EQ(pages.data()[3 * kPage], std::byte{7});
}

TEST_F(ArenaTest, PagesThatCannotBeReturnedKeepTheirBytes) {
  const Pages pages(4);
  const auto offset = arena_->share(pages.address(), pages.size());
  ASSERT_TRUE(offset.has_value());
  std::memset(pages.data(), 8, pages.size());
  const Retirement retirement{.pages = {*offset, *offset + pages.size()},
                              .hold = {.peer = this, .place = 1, .word = 1, .is_over = [] { return false; }}};
  {
    const ScarceLimit descriptors(RLIMIT_NOFILE, 0);
    arena_->retire({&retirement, 1});
  }
  EXPECT_EQ(pages.data()[0], std::byte{8});
  EXPECT_EQ(read_arena(*arena_, *offset), std::byte{8});
}

// Threads store into memory, each into words of its own, while it is being moved: none of what they count is lost.
TEST_F(ArenaTest, StoresOfOtherThreadsDuringTheMoveAreKept) {
  constexpr int kRounds = 50;
  constexpr std::size_t kThreads = 2;
  constexpr std::size_t kStride = 512;
  for (int round = 0; round < kRounds; ++round) {
    const Pages pages(32);
    std::atomic<bool> is_over{false};
    std::atomic<std::size_t> running{0};
    std::uint64_t passes[kThreads] = {};
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (std::uint64_t pass = 1; !is_over.load(); ++pass) {
          for (std::size_t at = t * 8; at < pages.size(); at += kStride) {
            auto* word = reinterpret_cast<std::uint64_t*>(pages.data() + at);
            *word += 1;
          }
          passes[t] = pass;
          if (pass == 1) running.fetch_add(1);
        }
      });
    }
    while (running.load() < kThreads) std::this_thread::yield();
    EXPECT_TRUE(arena_->share(pages.address(), pages.size()).has_value());
    is_over.store(true);
    for (std::thread& thread : threads) thread.join();
    for (std::size_t t = 0; t < kThreads; ++t) {
      for (std::size_t at = t * 8; at < pages.size(); at += kStride) {
        ASSERT_EQ(*reinterpret_cast<std::uint64_t*>(pages.data() + at), passes[t]) << "round " << round;
      }
    }
  }
}

}  // namespace
}  // namespace softdat::memory::testing
