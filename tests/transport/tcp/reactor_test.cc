// SPDX-License-Identifier: BSD-2-Clause
#include "transport/reactor.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <thread>
#include <vector>

#include "base/unique_fd.h"

namespace softdat::transport {
namespace {

class Listener final : public ReadinessSink {
 public:
  void on_ready(std::uint32_t readiness) override {
    heard.push_back(readiness);
    if (then) then();
  }
  std::vector<std::uint32_t> heard;
  std::function<void()> then;
};

class ReactorTest : public testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    here_.reset(ends[0]);
    there_.reset(ends[1]);
  }
  void write() { ASSERT_EQ(::write(there_.get(), "x", 1), 1); }
  void read() {
    char byte = 0;
    ASSERT_EQ(::read(here_.get(), &byte, 1), 1);
  }
  // What came before ends the next wait, and not the one after it.
  void expect_to_end_one_wait() {
    reactor_->wait(base::kNever);
    const base::Time deadline = base::Clock::now() + std::chrono::milliseconds(5);
    reactor_->wait(deadline);
    EXPECT_GE(base::Clock::now(), deadline);
  }

  const std::unique_ptr<Reactor> reactor_ = Reactor::create();
  base::UniqueFd here_, there_;
  Listener listener_;
};

TEST_F(ReactorTest, TellsOnceForEachTimeItIsAsked) {
  const auto watch = reactor_->watch(here_.get(), listener_);
  watch->want(kReadable);
  EXPECT_EQ(reactor_->dispatch(true), 0u);
  write();
  EXPECT_EQ(reactor_->dispatch(true), 1u);
  EXPECT_EQ(reactor_->dispatch(true), 0u);
  EXPECT_EQ(listener_.heard, std::vector<std::uint32_t>{kReadable});
  watch->want(kReadable);
  EXPECT_EQ(reactor_->dispatch(true), 1u) << "what is still unread counts again";
}

TEST_F(ReactorTest, RepeatedWantsAddUp) {
  const auto watch = reactor_->watch(here_.get(), listener_);
  watch->want(kReadable);
  watch->want(kReadable | kWritable);
  write();
  EXPECT_EQ(reactor_->dispatch(true), 2u);
  EXPECT_EQ(listener_.heard.size(), 2u);
}

TEST_F(ReactorTest, WithoutALookOnlyWhatAWaitFoundIsTold) {
  const auto watch = reactor_->watch(here_.get(), listener_);
  watch->want(kReadable);
  write();
  EXPECT_EQ(reactor_->dispatch(false), 0u);
  reactor_->wait(base::kNever);
  EXPECT_EQ(reactor_->dispatch(false), 1u);
}

TEST_F(ReactorTest, AWatchThatIsGoneIsNotTold) {
  Listener other;
  auto first = reactor_->watch(here_.get(), listener_);
  auto second = reactor_->watch(there_.get(), other);
  listener_.then = [&] { second.reset(); };
  other.then = [&] { first.reset(); };
  first->want(kWritable);
  second->want(kWritable);
  reactor_->wait(base::kNever);
  // Whichever is told first ends the other.
  while (reactor_->dispatch(true) != 0) {
  }
  EXPECT_EQ(listener_.heard.size() + other.heard.size(), 1u);
}

TEST_F(ReactorTest, AWatchMayEndItself) {
  auto watch = reactor_->watch(here_.get(), listener_);
  listener_.then = [&] { watch.reset(); };
  watch->want(kReadable);
  write();
  EXPECT_EQ(reactor_->dispatch(true), 1u);
  const auto again = reactor_->watch(here_.get(), listener_);
  ASSERT_NE(again, nullptr);
}

TEST_F(ReactorTest, InterruptsAreRemembered) {
  reactor_->interrupt();
  reactor_->interrupt();
  expect_to_end_one_wait();
}

// A peer rings once for a sleeper. The thread that takes the ring between the sleeper's last look and its sleep must
// keep the sleeper awake.
TEST_F(ReactorTest, AWaitThatWasAnnouncedEndsWhenAnotherThreadTakesWhatIsReady) {
  const auto watch = reactor_->watch(here_.get(), listener_);
  watch->want(kReadable);
  reactor_->prepare_wait();
  write();
  std::thread([&] { EXPECT_EQ(reactor_->dispatch(true), 1u); }).join();
  expect_to_end_one_wait();
}

// A sink may make a link whose ring the sleeper does not know.
TEST_F(ReactorTest, AWaitThatWasAnnouncedWhileASinkRanEnds) {
  const auto watch = reactor_->watch(here_.get(), listener_);
  listener_.then = [&] { reactor_->prepare_wait(); };
  watch->want(kReadable);
  write();
  EXPECT_EQ(reactor_->dispatch(true), 1u);
  reactor_->wait(base::kNever);
  EXPECT_EQ(listener_.heard.size(), 1u);
}

// One thread holds the baton and arms, another only waits.
TEST_F(ReactorTest, AWaitHearsOfWantsThatCameAfterItBegan) {
  const auto watch = reactor_->watch(here_.get(), listener_);
  for (std::size_t i = 1; i <= 200; ++i) {
    std::thread waiter([&] { reactor_->wait(base::kNever); });
    watch->want(kReadable);
    write();
    waiter.join();
    EXPECT_EQ(reactor_->dispatch(false), 1u);
    EXPECT_EQ(listener_.heard.size(), i);
    read();
  }
}

}  // namespace
}  // namespace softdat::transport
