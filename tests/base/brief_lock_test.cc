// SPDX-License-Identifier: BSD-2-Clause
#include "base/brief_lock.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <thread>
#include <vector>

#include "base/spin_lock.h"
#include "tests/asleep.h"

namespace softdat::base {
namespace {

template <typename Lock>
class LockTest : public testing::Test {};
using Locks = testing::Types<BriefLock, SpinLock>;
TYPED_TEST_SUITE(LockTest, Locks);

// An endpoint has eight of them.
static_assert(sizeof(BriefLock) == 4);

TYPED_TEST(LockTest, IsHeldByOneAtATime) {
  TypeParam lock;
  ASSERT_TRUE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock());
  lock.unlock();
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
}

TYPED_TEST(LockTest, WhoeverWaitsGoesOnAndNothingIsLost) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 20'000;
  TypeParam lock;
  int count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        const std::lock_guard guard(lock);
        ++count;
        if (round % 1000 == 0) std::this_thread::yield();  // so that others come to wait, and to sleep
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, kThreads * kRounds);
}

std::atomic<int> g_signals{0};

// A handler of SIGSEGV takes mutexes, too, and the program must find its errno again.
TEST(BriefLockTest, ErrnoStaysThoughASignalEndsTheSleep) {
  struct sigaction counting = {};
  counting.sa_handler = [](int) { ++g_signals; };
  struct sigaction before = {};
  ASSERT_EQ(::sigaction(SIGUSR1, &counting, &before), 0);
  BriefLock lock;
  lock.lock();
  std::atomic<int> id{0};
  int error = 0;
  std::thread waiter([&] {
    id.store(::gettid());
    errno = EDOM;
    const std::lock_guard guard(lock);
    error = errno;
  });
  while (id.load() == 0) std::this_thread::yield();
  for (int sent = 1; sent <= 3; ++sent) {
    await_asleep(id.load());
    ::pthread_kill(waiter.native_handle(), SIGUSR1);
    while (g_signals.load() < sent) std::this_thread::yield();
  }
  lock.unlock();
  waiter.join();
  EXPECT_EQ(error, EDOM);
  ::sigaction(SIGUSR1, &before, nullptr);
}

}  // namespace
}  // namespace softdat::base
