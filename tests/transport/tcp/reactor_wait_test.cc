// SPDX-License-Identifier: BSD-2-Clause
// The wait of a thread of the program's in the reactor.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <thread>

#include "base/unique_fd.h"
#include "tests/transport/conformance/ready_counter.h"
#include "transport/reactor.h"

namespace softdat::transport {
namespace {

using conformance::ReadyCounter;

// One end of a pair of sockets is watched.
class WatchedPair {
 public:
  explicit WatchedPair(Reactor& reactor) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
    ours_.reset(ends[0]);
    theirs_.reset(ends[1]);
    watch_ = reactor.watch(ours_.get(), sink);
    watch_->want(kReadable);
  }
  void send() { EXPECT_EQ(::send(theirs_.get(), "x", 1, 0), 1); }

  ReadyCounter sink;

 private:
  base::UniqueFd ours_, theirs_;
  std::unique_ptr<Reactor::Watch> watch_;
};

class ReactorWait : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!reactor_->can_wait_cancellably()) GTEST_SKIP() << "/proc does not tell of the epoll set";
  }
  const std::unique_ptr<Reactor> reactor_ = Reactor::create();
};

TEST_F(ReactorWait, EndsWhenADescriptorIsReady) {
  WatchedPair pair(*reactor_);
  std::thread sender([&] { pair.send(); });
  EXPECT_EQ(reactor_->wait_cancellably(base::kNever), base::WakeReason::kNotified);
  sender.join();
  EXPECT_EQ(reactor_->dispatch(false), 1u);
  EXPECT_EQ(pair.sink.count, 1);
}

TEST_F(ReactorWait, EndsAtItsDeadline) {
  EXPECT_EQ(reactor_->wait_cancellably(base::Clock::now()), base::WakeReason::kTimedOut);
  EXPECT_EQ(reactor_->wait_cancellably(base::Clock::now() + std::chrono::milliseconds(1)), base::WakeReason::kTimedOut);
}

TEST_F(ReactorWait, EndsByAnInterruptBeforeItAndWithinIt) {
  reactor_->interrupt();
  EXPECT_EQ(reactor_->wait_cancellably(base::kNever), base::WakeReason::kNotified);
  for (int round = 0; round < 100; ++round) {
    std::thread interrupter([&] { reactor_->interrupt(); });
    EXPECT_EQ(reactor_->wait_cancellably(base::kNever), base::WakeReason::kNotified);
    interrupter.join();
  }
}

// wait() returns after one of several descriptors that have become ready together. The epoll set has told of all.
TEST_F(ReactorWait, MissesNothingThatAnEarlierWaitLeftBehind) {
  std::array<std::unique_ptr<WatchedPair>, 3> pairs;
  for (auto& pair : pairs) pair = std::make_unique<WatchedPair>(*reactor_);
  for (auto& pair : pairs) pair->send();
  std::size_t told = 0;
  reactor_->wait(base::kNever);
  told += reactor_->dispatch(false);
  while (told < pairs.size()) {
    ASSERT_EQ(reactor_->wait_cancellably(base::Clock::now() + std::chrono::seconds(10)), base::WakeReason::kNotified);
    told += reactor_->dispatch(false);
  }
  for (const auto& pair : pairs) EXPECT_EQ(pair->sink.count, 1);
}

void ignore_nothing(int) {}

TEST_F(ReactorWait, EndsBySignalThoughItsHandlerRestartsSystemCalls) {
  struct sigaction action {};
  action.sa_handler = ignore_nothing;
  action.sa_flags = SA_RESTART;
  ASSERT_EQ(::sigaction(SIGUSR1, &action, nullptr), 0);
  std::atomic<bool> is_done{false};
  const pthread_t waiter = ::pthread_self();
  std::thread sender([&] {
    while (!is_done.load()) {
      ::pthread_kill(waiter, SIGUSR1);
      std::this_thread::yield();
    }
  });
  EXPECT_EQ(reactor_->wait_cancellably(base::kNever), base::WakeReason::kInterrupted);
  is_done.store(true);
  sender.join();
}

TEST_F(ReactorWait, LeavesTheReactorInOrderWhereItsThreadIsCancelled) {
  std::atomic<bool> is_there{false};
  std::thread waiter([&] {
    is_there.store(true);
    reactor_->wait_cancellably(base::kNever);
  });
  while (!is_there.load()) std::this_thread::yield();
  ASSERT_EQ(::pthread_cancel(waiter.native_handle()), 0);
  waiter.join();
  WatchedPair pair(*reactor_);
  pair.send();
  reactor_->wait(base::kNever);
  EXPECT_EQ(reactor_->dispatch(false), 1u);
}

}  // namespace
}  // namespace softdat::transport
