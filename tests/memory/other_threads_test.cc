// SPDX-License-Identifier: BSD-2-Clause
// Memory in which other threads stand or sleep: it is not moved, and nobody sleeps on for it.
#include "memory/other_threads.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/brief_lock.h"
#include "memory/page_return.h"
#include "tests/asleep.h"
#include "tests/memory/pages.h"

namespace softdat::memory::testing {
namespace {

// The kernel joins neighbours, and what it joins with a stack stays where it is. Nothing comes to lie here by itself.
#if defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kFarAway = std::uint64_t{1} << 37;
#else
constexpr std::uint64_t kFarAway = std::uint64_t{1} << 45;
#endif
struct FarPages : Pages {
  explicit FarPages(std::size_t count) : Pages(count, MAP_PRIVATE | MAP_ANONYMOUS, kFarAway) {}
};

// As they lie at the beginning of the file.
SharedPages whole(const Pages& pages) {
  return {pages.address(), pages.address() + pages.size(), PROT_READ | PROT_WRITE, 0};
}

// A thread that runs `body` and can be awaited asleep.
class Sleeper {
 public:
  explicit Sleeper(std::function<void()> body)
      : thread_([this, body = std::move(body)] {
          id_.store(static_cast<int>(::syscall(SYS_gettid)));
          body();
        }) {}
  ~Sleeper() { thread_.join(); }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  void await() const {
    while (id_.load() == 0) std::this_thread::yield();
    await_asleep(id_.load());
  }

 private:
  std::atomic<int> id_{0};
  std::thread thread_;
};

class OtherThreadsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!is_supported()) GTEST_SKIP() << "no userfaultfd here";
    arena_ = Arena::create();
    ASSERT_NE(arena_, nullptr);
  }
  // Whether the pages could not be moved, for this reason.
  bool is_kept(const Pages& pages) {
    Refusal refusal = Refusal::kNotMovable;
    const bool is_moved = arena_->share(pages.address(), pages.size(), MoveWhen::kAlways, &refusal).has_value();
    return !is_moved && refusal == Refusal::kThreadMemory;
  }
  template <typename T>
  static T* make(const Pages& pages, std::size_t offset = 128) {
    return new (pages.data() + offset) T();
  }

  std::unique_ptr<Arena> arena_;
};

TEST_F(OtherThreadsTest, ASemaphoreOfSeveralProcessesOnWhichOneSleepsStays) {
  const FarPages pages(4);
  auto* const semaphore = make<sem_t>(pages);
  ASSERT_EQ(::sem_init(semaphore, 1, 0), 0);
  {
    const Sleeper sleeper([semaphore] { ::sem_wait(semaphore); });
    sleeper.await();
    EXPECT_TRUE(is_kept(pages));
    ::sem_post(semaphore);
  }
  EXPECT_TRUE(arena_->share(pages.address(), pages.size()).has_value()) << "nobody sleeps there any more";
}

TEST_F(OtherThreadsTest, AMutexAndAConditionLikewise) {
  const FarPages pages(4);
  auto* const mutex = make<pthread_mutex_t>(pages);
  auto* const condition = make<pthread_cond_t>(pages, 2048);
  pthread_mutexattr_t of_mutex;
  pthread_condattr_t of_condition;
  ::pthread_mutexattr_init(&of_mutex);
  ::pthread_mutexattr_setpshared(&of_mutex, PTHREAD_PROCESS_SHARED);
  ::pthread_mutex_init(mutex, &of_mutex);
  ::pthread_condattr_init(&of_condition);
  ::pthread_condattr_setpshared(&of_condition, PTHREAD_PROCESS_SHARED);
  ::pthread_cond_init(condition, &of_condition);
  bool is_said = false;
  {
    const Sleeper sleeper([&] {
      ::pthread_mutex_lock(mutex);
      while (!is_said) ::pthread_cond_wait(condition, mutex);
      ::pthread_mutex_unlock(mutex);
    });
    sleeper.await();
    EXPECT_TRUE(is_kept(pages));
    ::pthread_mutex_lock(mutex);
    is_said = true;
    const Sleeper locker([&] {
      ::pthread_mutex_lock(mutex);
      ::pthread_mutex_unlock(mutex);
    });
    locker.await();
    EXPECT_TRUE(is_kept(pages));
    ::pthread_cond_signal(condition);
    ::pthread_mutex_unlock(mutex);
  }
  EXPECT_TRUE(arena_->share(pages.address(), pages.size()).has_value());
}

// The kernel knows a private futex by its address. (The thread comes first: the kernel would join the pages and a stack
// below them, which then stay for that reason.)
TEST_F(OtherThreadsTest, ASleeperOfThisProcessAloneIsNoHindrance) {
  std::optional<FarPages> pages;  // outlive the sleeper
  std::atomic<sem_t*> place{nullptr};
  const Sleeper sleeper([&place] {
    while (place.load() == nullptr) std::this_thread::yield();
    ::sem_wait(place.load());
  });
  pages.emplace(4);
  auto* const semaphore = make<sem_t>(*pages);
  ASSERT_EQ(::sem_init(semaphore, 0, 0), 0);
  place.store(semaphore);
  sleeper.await();
  EXPECT_TRUE(arena_->share(pages->address(), pages->size()).has_value());
  ::sem_post(semaphore);
}

// All mutexes of the library are such locks, and one may lie in what the consumer registers.
TEST_F(OtherThreadsTest, ASleeperOnAMutexOfTheLibraryIsNoHindrance) {
  std::optional<FarPages> pages;  // outlive the sleeper
  std::atomic<base::BriefLock*> place{nullptr};
  const Sleeper sleeper([&place] {
    while (place.load() == nullptr) std::this_thread::yield();
    const std::lock_guard guard(*place.load());
  });
  pages.emplace(4);
  auto* const lock = make<base::BriefLock>(*pages);
  lock->lock();
  place.store(lock);
  sleeper.await();
  EXPECT_TRUE(arena_->share(pages->address(), pages->size()).has_value());
  lock->unlock();
}

// std::atomic::wait() is of that kind too, as libstdc++ is built.
TEST_F(OtherThreadsTest, AnAtomicOnWhichOneSleepsIsLeftInWorkingOrder) {
  const FarPages pages(4);
  auto* const word = make<std::atomic<int>>(pages);
  const Sleeper sleeper([word] { word->wait(0); });
  sleeper.await();
  static_cast<void>(arena_->share(pages.address(), pages.size()));
  word->store(1);
  word->notify_all();
}

// A thread on a stack of the consumer's making.
class OnStack {
 public:
  OnStack(void* stack, std::size_t size, std::function<void()> body) : body_(std::move(body)) {
    pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    EXPECT_EQ(::pthread_attr_setstack(&attributes, stack, size), 0);
    EXPECT_EQ(::pthread_create(&thread_, &attributes, run, this), 0);
  }
  void join() const { ::pthread_join(thread_, nullptr); }
  pthread_t thread() const { return thread_; }

 private:
  static void* run(void* self) {
    static_cast<OnStack*>(self)->body_();
    return nullptr;
  }
  std::function<void()> body_;
  pthread_t thread_{};
};

// ThreadSanitizer keeps what it knows of a thread on its stack.
#if defined(__SANITIZE_THREAD__)
constexpr std::size_t kStackPages = 1024;
#else
constexpr std::size_t kStackPages = 64;
#endif
constexpr std::size_t kStack = kStackPages * kPage;

// The control block lies at the upper end of the stack, and nothing of it above.
TEST_F(OtherThreadsTest, WhatLiesRightAboveAStackIsMoved) {
  const FarPages pages(2 * kStackPages);
  std::atomic<bool> may_end{false};
  const OnStack runner(pages.data(), kStack, [&] {
    while (!may_end.load()) std::this_thread::yield();
  });
  EXPECT_TRUE(arena_->share(pages.address() + kStack, kPage).has_value());
  EXPECT_FALSE(arena_->share(pages.address() + kStack - kPage, kPage).has_value());
  may_end.store(true);
  runner.join();
}

TEST_F(OtherThreadsTest, AStackStaysAndCanBeJoined) {
  const FarPages pages(2 * kStackPages);
  std::atomic<bool> may_end{false};
  const OnStack runner(pages.data() + kStack, kStack, [&] {
    while (!may_end.load()) {
    }
  });
  EXPECT_TRUE(is_kept(pages));
  // Where the stack ends below is not known.
  EXPECT_FALSE(arena_->share(pages.address(), kPage).has_value());
  {
    const Sleeper joiner([&] { runner.join(); });
    joiner.await();
    EXPECT_TRUE(is_kept(pages));
    may_end.store(true);
  }
}

TEST_F(OtherThreadsTest, AboveAStackMemoryMoves) {
  const FarPages pages(kStackPages + 8);
  std::atomic<bool> has_begun{false};
  std::atomic<bool> may_end{false};
  const OnStack runner(pages.data(), kStack, [&] {
    has_begun.store(true);
    while (!may_end.load()) {
    }
  });
  while (!has_begun.load()) std::this_thread::yield();
  EXPECT_TRUE(arena_->share(pages.address() + kStack + 4 * kPage, kPage).has_value());
  may_end.store(true);
  runner.join();
}

// A thread that falls asleep between the first look and the move is woken.
TEST_F(OtherThreadsTest, WhoeverFallsAsleepMeanwhileIsWoken) {
  constexpr int kRounds = 300;
  int kept = 0;
  for (int round = 0; round < kRounds; ++round) {
    const FarPages pages(64);
    auto* const semaphore = make<sem_t>(pages);
    ASSERT_EQ(::sem_init(semaphore, 1, 0), 0);
    std::atomic<bool> may_begin{false};
    {
      const Sleeper sleeper([&, round] {
        while (!may_begin.load()) {
        }
        std::atomic<int> pause{round * 100};
        while (pause.fetch_sub(1) > 0) {
        }
        ::sem_wait(semaphore);
      });
      may_begin.store(true);
      kept += is_kept(pages) ? 1 : 0;
      ::sem_post(semaphore);
    }
  }
  RecordProperty("kept", kept);
}

// Forces that race: the thread sleeps on the private page, and the move replaces the page.
TEST_F(OtherThreadsTest, PutBackAndWokenASleeperGoesOn) {
  const FarPages pages(4);
  auto* const semaphore = make<sem_t>(pages);
  ASSERT_EQ(::sem_init(semaphore, 1, 0), 0);
  std::memset(pages.data() + kPage, 7, kPage);
  PageMover mover;
  ASSERT_TRUE(mover.is_able());
  const Sleeper sleeper([semaphore] { ::sem_wait(semaphore); });
  sleeper.await();
  ASSERT_EQ(mover.move(pages.address(), pages.address() + pages.size(), arena_->file(), 0, MoveWhen::kAlways),
            MoveResult::kMoved);
  const OtherThreads threads;
  EXPECT_TRUE(threads.is_complete());
  EXPECT_TRUE(threads.sleep_in(pages.address(), pages.address() + kPage));
  EXPECT_FALSE(threads.sleep_in(pages.address() + kPage, pages.address() + pages.size()));
  ::sem_post(semaphore);  // finds nobody
  ASSERT_TRUE(return_pages(whole(pages), arena_->file()));
  wake_sleepers(threads, pages.address(), pages.address() + pages.size(), arena_->file(), 0);
  EXPECT_EQ(pages.data()[kPage + 5], std::byte{7});
}

// And the other way round: it sleeps by the file's page.
TEST_F(OtherThreadsTest, PutBackASleeperOfTheFileIsFound) {
  const FarPages pages(4);
  auto* const semaphore = make<sem_t>(pages);
  ASSERT_EQ(::sem_init(semaphore, 1, 0), 0);
  PageMover mover;
  ASSERT_EQ(mover.is_able()
                ? mover.move(pages.address(), pages.address() + pages.size(), arena_->file(), 0, MoveWhen::kAlways)
                : MoveResult::kFailed,
            MoveResult::kMoved);
  const Sleeper sleeper([semaphore] { ::sem_wait(semaphore); });
  sleeper.await();
  ASSERT_TRUE(return_pages(whole(pages), arena_->file()));
  ::sem_post(semaphore);  // finds nobody
  const OtherThreads threads;
  wake_sleepers(threads, pages.address(), pages.address() + pages.size(), arena_->file(), 0);
}

// No store is lost by moving there and back.
TEST_F(OtherThreadsTest, WritersLoseNothingByBeingPutBack) {
  const FarPages pages(16);
  auto* const count = make<std::atomic<std::uint64_t>>(pages, 5 * kPage);
  std::atomic<bool> may_end{false};
  std::uint64_t stored = 0;
  std::thread writer([&] {
    while (!may_end.load()) {
      count->fetch_add(1);
      ++stored;
    }
  });
  PageMover mover;
  ASSERT_TRUE(mover.is_able());
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(mover.move(pages.address(), pages.address() + pages.size(), arena_->file(), 0, MoveWhen::kAlways),
              MoveResult::kMoved);
    ASSERT_TRUE(return_pages(whole(pages), arena_->file()));
  }
  may_end.store(true);
  writer.join();
  EXPECT_EQ(count->load(), stored);
}

// Of the processor on which the calling thread runs, and which it keeps from now on.
bool keep_this_processor() {
  const int processor = ::sched_getcpu();
  cpu_set_t processors;
  CPU_ZERO(&processors);
  CPU_SET(static_cast<std::size_t>(std::max(processor, 0)), &processors);
  return processor >= 0 && ::sched_setaffinity(0, sizeof processors, &processors) == 0;
}

// Takes its processor away from all others but for those with privileges of their own. Its threads do not inherit that.
bool take_priority() {
  const sched_param priority = {.sched_priority = 1};
  return ::sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &priority) == 0;
}

// Starts a thread that gets no processor for a while.
class HeldBackThread {
 public:
  HeldBackThread()
      : keeper_([this] {
          is_held_ = keep_this_processor() && take_priority();
          if (is_held_) held_back_ = std::thread([] {});
          is_started_.store(true);
          while (is_held_ && !may_run()) {
          }
        }) {
    while (!is_started_.load()) std::this_thread::yield();
  }
  ~HeldBackThread() {
    keeper_.join();
    if (held_back_.joinable()) held_back_.join();
  }
  HeldBackThread(const HeldBackThread&) = delete;
  HeldBackThread& operator=(const HeldBackThread&) = delete;
  // False: the system does not allow it.
  bool is_held() const { return is_held_; }

 private:
  // Long enough to be noticed; the kernel lets nobody keep a processor for a second.
  bool may_run() const { return base::Clock::now() - begin_ > std::chrono::milliseconds(100); }

  const base::Time begin_ = base::Clock::now();
  bool is_held_ = false;
  std::atomic<bool> is_started_{false};
  std::thread held_back_;
  std::thread keeper_;
};

// Its stack may lie anywhere, also in the memory that is to be moved.
TEST_F(OtherThreadsTest, AThreadThatHasNotRunYetIsAwaited) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one processor cannot be held and waited for";
  const FarPages pages(4);
  pages.data()[0] = std::byte{1};
  const HeldBackThread held;
  if (!held.is_held()) GTEST_SKIP() << "only a privileged process can hold a thread back";
  const base::Time begin = base::Clock::now();
  const bool is_shared = arena_->share(pages.address(), pages.size()).has_value();
  EXPECT_TRUE(is_shared || base::Clock::now() - begin >= Arena::kThreadPatience);
}

// Moves the stacks of threads that change processors all the time, or tries to.
void register_stacks(Arena& arena) {
  constexpr int kThreads = 4;
  const FarPages pages(kThreads * kStackPages);
  std::atomic<bool> may_end{false};
  std::atomic<int> begun{0};
  std::vector<std::unique_ptr<OnStack>> threads;
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.push_back(std::make_unique<OnStack>(pages.data() + i * kStack, kStack, [&, i] {
      begun.fetch_add(1);
      for (std::size_t turn = i; !may_end.load(); ++turn) {
        cpu_set_t processors;
        CPU_ZERO(&processors);
        CPU_SET(turn % std::max(1u, std::thread::hardware_concurrency()), &processors);
        ::sched_setaffinity(0, sizeof processors, &processors);
      }
    }));
  }
  while (begun.load() < kThreads) std::this_thread::yield();
  static_cast<void>(arena.share(pages.address(), pages.size()));
  may_end.store(true);
  for (const auto& thread : threads) thread->join();
}

// Without privileges the kernel's own stores into pages that stand still fail, and such a thread dies: here of the note
// that the kernel leaves in a control block when its thread changes processors.
TEST_F(OtherThreadsTest, AskedForWithoutPrivilegesThreadsSurviveOnRegisteredStacks) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers lay out stacks by themselves";
#endif
  const ::pid_t child = ::fork();
  if (child == 0) {
    PageMover mover;
    mover.forgo_system_calls();
    const auto arena = Arena::create(std::move(mover));
    for (int round = 0; round < 100; ++round) register_stacks(*arena);
    ::_exit(0);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace softdat::memory::testing
