// SPDX-License-Identifier: BSD-2-Clause
#include "base/own_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "tests/base/holds_in_child.h"

namespace softdat::base {
namespace {

using testing::holds_in_child;

// A thread that stays until it is told to go. The constructor awaits it: a child of fork() would never get what the
// sanitizer's start of a thread holds.
class Guest {
 public:
  Guest() : thread_([this] { come_and_stay(); }) { has_come_.wait(false); }
  ~Guest() {
    may_go_.store(true);
    may_go_.notify_all();
    thread_.join();
  }

 private:
  void come_and_stay() {
    has_come_.store(true);
    has_come_.notify_all();
    may_go_.wait(false);
  }

  std::atomic<bool> has_come_{false};
  std::atomic<bool> may_go_{false};
  std::thread thread_;
};

class OwnThreads : public ::testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "ThreadSanitizer has a thread of its own in every process";
#endif
  }
};

bool is_alone_again() {
  for (int i = 0; i < 1000; ++i) {
    if (is_consumer_alone()) return true;
    std::this_thread::yield();
  }
  return false;
}

TEST_F(OwnThreads, TheOnlyThreadIsAlone) {
  EXPECT_TRUE(holds_in_child([] { return is_consumer_alone(); }));
}

TEST_F(OwnThreads, AnotherThreadIsCompany) {
  EXPECT_TRUE(holds_in_child([] {
    const Guest guest;
    return !is_consumer_alone() && !is_consumer_alone();
  }));
}

TEST_F(OwnThreads, OneOfOursIsNone) {
  EXPECT_TRUE(holds_in_child([] {
    const Guest guest;
    count_own_thread();
    return is_consumer_alone();
  }));
}

TEST_F(OwnThreads, ButWhileTheConsumerHasItsTurnThereItIs) {
  EXPECT_TRUE(holds_in_child([] {
    const Guest guest;
    count_own_thread();
    {
      const ConsumersTurn turn;
      if (is_consumer_alone()) return false;
    }
    return is_consumer_alone();
  }));
}

TEST_F(OwnThreads, NoTurnBeginsWhileTurnsAreHeld) {
  EXPECT_TRUE(holds_in_child([] {
    std::atomic<bool> is_counted{false}, has_begun{false};
    auto held = std::make_unique<TurnsHeld>();
    std::thread ours([&] {
      is_counted.wait(false);
      const ConsumersTurn turn;
      has_begun.store(true);
    });
    count_own_thread();
    const bool was_alone = is_consumer_alone();
    is_counted.store(true);
    is_counted.notify_all();
    while (is_consumer_alone()) std::this_thread::yield();
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();
    const bool has_waited = !has_begun.load();
    held.reset();
    ours.join();
    return was_alone && has_waited && has_begun.load();
  }));
}

TEST_F(OwnThreads, WhoHasGoneIsForgotten) {
  EXPECT_TRUE(holds_in_child([] {
    for (int i = 0; i < 20; ++i) {
      { const Guest guest; }
      if (!is_alone_again()) return false;
    }
    return true;
  }));
}

TEST_F(OwnThreads, AChildHasNoneOfItsParents) {
  const Guest guest;
  count_own_thread();
  EXPECT_TRUE(holds_in_child([] {
    const Guest another;
    return !is_consumer_alone();
  }));
  forget_own_thread();
}

}  // namespace
}  // namespace softdat::base
