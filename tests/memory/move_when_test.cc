// SPDX-License-Identifier: BSD-2-Clause
// When memory is moved, and what becomes of system calls meanwhile where the kernel does not let them wait.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "memory/address_map.h"
#include "memory/arena.h"
#include "tests/base/holds_in_child.h"
#include "tests/memory/humble_arena.h"
#include "tests/memory/pages.h"

namespace softdat::memory::testing {
namespace {

using base::testing::holds_in_child;

class MoveWhenTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!is_supported()) GTEST_SKIP() << "no userfaultfd here";
  }
};

TEST_F(MoveWhenTest, WithoutPrivilegesWhoIsAloneMovesAllTheSame) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer has a thread of its own in every process";
#endif
  EXPECT_TRUE(holds_in_child([] {
    const auto arena = make_humble_arena();
    const Pages pages(4);
    return arena->share(pages.address(), pages.size(), MoveWhen::kHarmless).has_value();
  }));
}

TEST_F(MoveWhenTest, WithoutPrivilegesAnotherThreadKeepsMemoryWhereItIs) {
  EXPECT_TRUE(holds_in_child([] {
    const auto arena = make_humble_arena();
    const Pages pages(4);
    std::atomic<bool> may_end{false};
    std::thread other([&] { may_end.wait(false); });
    Refusal refusal = Refusal::kNotMovable;
    const bool is_moved = arena->share(pages.address(), pages.size(), MoveWhen::kHarmless, &refusal).has_value();
    const bool is_moved_if_asked = arena->share(pages.address(), pages.size(), MoveWhen::kAlways).has_value();
    may_end.store(true);
    may_end.notify_all();
    other.join();
    return !is_moved && refusal == Refusal::kOtherThreads && is_moved_if_asked;
  }));
}

TEST_F(MoveWhenTest, WhereSystemCallsWaitOtherThreadsDoNotMatter) {
  PageMover mover;
  if (!mover.is_able() || !mover.holds_system_calls()) GTEST_SKIP() << "system calls do not wait here";
  const auto arena = Arena::create();
  const Pages pages(4);
  std::atomic<bool> may_end{false};
  std::thread other([&] { may_end.wait(false); });
  EXPECT_TRUE(arena->share(pages.address(), pages.size(), MoveWhen::kHarmless).has_value());
  may_end.store(true);
  may_end.notify_all();
  other.join();
}

TEST_F(MoveWhenTest, ARingByWhichTheKernelStoresKeepsMemoryWhereItIs) {
  unsigned long ring = 0;
  if (::syscall(SYS_io_setup, 1, &ring) != 0) GTEST_SKIP() << "no asynchronous I/O here";
  const auto arena = Arena::create();
  const Pages pages(4);
  Refusal refusal = Refusal::kNotMovable;
  EXPECT_FALSE(arena->share(pages.address(), pages.size(), MoveWhen::kHarmless, &refusal).has_value());
  EXPECT_EQ(refusal, Refusal::kOthersAtWork);
  EXPECT_TRUE(arena->share(pages.address(), pages.size(), MoveWhen::kAlways).has_value());
  EXPECT_EQ(::syscall(SYS_io_destroy, ring), 0);
}

TEST(OthersAtWork, AreKnownByTheNamesOfTheirMappings) {
  for (const char* name : {"anon_inode:[io_uring]", "/[aio] (deleted)", "/dev/infiniband/uverbs0", "/dev/nvidia0"}) {
    EXPECT_TRUE(is_of_others_at_work(name)) << name;
  }
  for (const char* name :
       {"", "[heap]", "/usr/lib/libc.so.6", "/dev/zero (deleted)", "/dev/shm/mine", "/dev/hugepages/1"}) {
    EXPECT_FALSE(is_of_others_at_work(name)) << name;
  }
}

::blkcnt_t blocks_of(const Arena& arena) {
  struct stat status = {};
  return ::fstat(arena.file(), &status) == 0 ? status.st_blocks : -1;
}

// What could not be moved may have lacked just that.
TEST_F(MoveWhenTest, ARefusalGivesBackWhatIsNoLongerUsed) {
  unsigned long ring = 0;
  if (::syscall(SYS_io_setup, 1, &ring) != 0) GTEST_SKIP() << "no asynchronous I/O here";
  const auto arena = Arena::create();
  {
    const Pages gone(16);
    ASSERT_TRUE(arena->share(gone.address(), gone.size(), MoveWhen::kAlways).has_value());
  }
  EXPECT_GT(blocks_of(*arena), 0);
  const Pages pages(4);
  EXPECT_FALSE(arena->share(pages.address(), pages.size(), MoveWhen::kHarmless).has_value());
  EXPECT_EQ(blocks_of(*arena), 0);
  EXPECT_EQ(::syscall(SYS_io_destroy, ring), 0);
}

TEST_F(MoveWhenTest, AHeapThatIsKnownIsRefusedWithoutALook) {
  const auto arena = Arena::create();
  const Pages pages(1);
  ASSERT_TRUE(arena->share(pages.address(), pages.size()).has_value());
  EXPECT_FALSE(is_surely_heap(pages.address()));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const std::unique_ptr<int> small(new int(3));
  EXPECT_TRUE(is_surely_heap(reinterpret_cast<std::uint64_t>(small.get())));
#endif
}

// What our own threads receive into registered memory while its neighbours are being registered arrives whole.
TEST_F(MoveWhenTest, ASystemCallThatAMoveDisturbedIsWorthAnotherTry) {
  constexpr int kRounds = 30;
  const auto arena = make_humble_arena();
  ASSERT_NE(arena, nullptr);
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  for (int round = 0; round < kRounds; ++round) {
    const Pages pages(8);
    std::atomic<bool> is_over{false};
    std::atomic<std::uint64_t> received{0};
    std::atomic<bool> is_lost{false};
    std::thread receiver([&] {
      while (!is_over.load() && !is_lost.load()) {
        const std::uint64_t sent = received.load() + 1;
        std::uint64_t* const into = reinterpret_cast<std::uint64_t*>(pages.data() + sent % 8 * kPage);
        if (::syscall(SYS_write, ends[0], &sent, sizeof sent) != long{sizeof sent}) is_lost.store(true);
        MoveWatch watch;
        long got = ::syscall(SYS_read, ends[1], into, sizeof sent);
        while (got < 0 && errno == EFAULT && watch.was_disturbed()) {
          got = ::syscall(SYS_read, ends[1], into, sizeof sent);
        }
        if (got != long{sizeof sent} || *into != sent) is_lost.store(true);
        received.store(sent);
      }
    });
    while (received.load() == 0 && !is_lost.load()) std::this_thread::yield();
    EXPECT_TRUE(arena->share(pages.address(), pages.size()).has_value());
    is_over.store(true);
    receiver.join();
    ASSERT_FALSE(is_lost.load()) << "round " << round;
  }
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace softdat::memory::testing
