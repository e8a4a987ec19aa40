// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/completion_queue.h"

#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>

#include "hca/receive_accounts.h"
#include "simnic/engine.h"
#include "tests/asleep.h"
#include "tests/simnic/world.h"

namespace softdat::simnic::testing {
namespace {

class CompletionQueueTest : public ::testing::Test {
 protected:
  bool push(std::uint64_t wr_id, bool is_quiet = false, bool solicited = false,
            CompletionStatus status = CompletionStatus::kSuccess) {
    const Engine::Hold hold(engine_);
    const hca::Completion completion{.wr_id = wr_id,
                                     .qp_context = 0,
                                     .length = 0,
                                     .status = status,
                                     .opcode = CompletionOpcode::kSend,
                                     .solicited = solicited};
    return queue_.give_to_poller(completion) || queue_.push(completion, is_quiet);
  }
  std::vector<std::uint64_t> poll_all() {
    std::vector<std::uint64_t> found;
    hca::Completion completion;
    while (queue_.poll({&completion, 1}) == 1) found.push_back(completion.wr_id);
    return found;
  }
  void deliver() { engine_.upcalls().deliver(); }

  transport::loop::LoopNetwork network_;
  Engine engine_{std::make_unique<transport::loop::LoopCarrier>(network_, transport::Address{1, 0}), Drive::kByHand};
  CompletionLog log_;
  hca::ReceiveAccounts accounts_{1};
  CompletionQueue queue_{engine_, accounts_, 4, log_};
};

TEST_F(CompletionQueueTest, NobodyIsToldUnlessItIsArmed) {
  push(1);
  deliver();
  EXPECT_EQ(log_.completions, 0);
}

TEST_F(CompletionQueueTest, TellsOncePerArm) {
  queue_.arm(false);
  push(1);
  push(2);
  deliver();
  EXPECT_EQ(log_.completions, 1);
  queue_.arm(false);
  push(3);
  deliver();
  EXPECT_EQ(log_.completions, 2);
}

// Who has not heard yet hears of all that came, once.
TEST_F(CompletionQueueTest, WhatIsStillToBeToldIsNotToldTwice) {
  for (int i = 1; i <= 2; ++i) {
    queue_.arm(false);
    push(i);
  }
  deliver();
  EXPECT_EQ(log_.completions, 1);
}

TEST_F(CompletionQueueTest, NeverWithinTheSectionThatPushes) {
  queue_.arm(false);
  const Engine::Hold hold(engine_);
  hca::Completion completion{};
  queue_.push(completion, false);
  EXPECT_EQ(log_.completions, 0);
}

TEST_F(CompletionQueueTest, FirstCompletionOfASectionGoesToThePollerThatClaimsIt) {
  hca::Completion claimed{};
  queue_.claim(claimed);
  for (std::uint64_t i = 1; i <= 3; ++i) push(i);
  EXPECT_TRUE(queue_.end_claim());
  EXPECT_EQ(claimed.wr_id, 1u);
  EXPECT_EQ(poll_all(), (std::vector<std::uint64_t>{2, 3}));
}

TEST_F(CompletionQueueTest, ClaimEndsWithTheSection) {
  hca::Completion claimed{};
  queue_.claim(claimed);
  EXPECT_FALSE(queue_.end_claim());
  push(1);
  EXPECT_EQ(claimed.wr_id, 0u);
  EXPECT_EQ(poll_all(), std::vector<std::uint64_t>{1});
}

// A request that was carried out directly has completed before, and waits in the ring.
TEST_F(CompletionQueueTest, ClaimedCompletionDoesNotOvertakeOneThatWaits) {
  hca::Completion claimed{};
  queue_.claim(claimed);
  const hca::Completion directly{.wr_id = 1,
                                 .qp_context = 0,
                                 .length = 0,
                                 .status = CompletionStatus::kSuccess,
                                 .opcode = CompletionOpcode::kWrite,
                                 .solicited = false};
  EXPECT_TRUE(queue_.push(directly, false));
  push(2);
  EXPECT_FALSE(queue_.end_claim());
  EXPECT_EQ(poll_all(), (std::vector<std::uint64_t>{1, 2}));
}

// A CNO hears of each completion that comes while it is armed.
TEST_F(CompletionQueueTest, ArmedQueueTellsItsSinkAlthoughThereIsAClaim) {
  queue_.arm(false);
  hca::Completion claimed{};
  queue_.claim(claimed);
  push(1);
  EXPECT_FALSE(queue_.end_claim());
  deliver();
  EXPECT_EQ(log_.completions, 1);
  EXPECT_EQ(poll_all(), std::vector<std::uint64_t>{1});
}

TEST_F(CompletionQueueTest, SolicitedMeansSolicitedOrFailed) {
  queue_.arm(true);
  push(1);
  deliver();
  EXPECT_EQ(log_.completions, 0);
  push(2, false, true);
  deliver();
  EXPECT_EQ(log_.completions, 1);
  queue_.arm(true);
  push(3, false, false, CompletionStatus::kFlushed);
  deliver();
  EXPECT_EQ(log_.completions, 2);
}

TEST_F(CompletionQueueTest, QuietOnesWakeNobody) {
  queue_.arm(false);
  const auto ticket = queue_.event_count().prepare();
  push(1, true);
  EXPECT_FALSE(queue_.event_count().is_notified(ticket));
  push(2);
  EXPECT_TRUE(queue_.event_count().is_notified(ticket));
  queue_.event_count().cancel();
  deliver();
  EXPECT_EQ(log_.completions, 1);
}

TEST_F(CompletionQueueTest, OverflowIsSaidOnceAndKeepsWhatIsThere) {
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_TRUE(push(i));
  EXPECT_FALSE(push(4));
  EXPECT_FALSE(push(5));
  deliver();
  EXPECT_EQ(log_.overflows, 1);
  EXPECT_EQ(poll_all(), (std::vector<std::uint64_t>{0, 1, 2, 3}));
  EXPECT_TRUE(push(6));
  EXPECT_EQ(poll_all(), std::vector<std::uint64_t>{6});
}

TEST_F(CompletionQueueTest, ResizingKeepsCompletionsAndOrder) {
  for (std::uint64_t i = 0; i < 4; ++i) push(i);
  EXPECT_EQ(reason(queue_.resize(3)), hca::Error::kInvalidState);
  EXPECT_EQ(queue_.capacity(), 4u);
  expect_ok(queue_.resize(100));
  EXPECT_GE(queue_.capacity(), 100u);
  for (std::uint64_t i = 4; i < 100; ++i) EXPECT_TRUE(push(i));
  EXPECT_EQ(queue_.size(), 100u);
  const auto found = poll_all();
  ASSERT_EQ(found.size(), 100u);
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(found[i], i);
  for (int i = 0; i < 10; ++i) {
    push(7);
    expect_ok(queue_.resize(i % 2 == 0 ? 4 : 128));
    EXPECT_EQ(poll_all(), std::vector<std::uint64_t>{7});
  }
}

TEST_F(CompletionQueueTest, ResizingUnderAProducersHandsKeepsTheOrder) {
  constexpr std::uint64_t kCount = 50'000;
  expect_ok(queue_.resize(64));
  std::thread producer([&] {
    for (std::uint64_t i = 0; i < kCount; ++i) {
      while (queue_.size() >= 60) std::this_thread::yield();
      EXPECT_TRUE(queue_.push({.wr_id = i,
                               .qp_context = 0,
                               .length = 0,
                               .status = CompletionStatus::kSuccess,
                               .opcode = CompletionOpcode::kWrite,
                               .solicited = false},
                              false));
    }
  });
  std::uint64_t misplaced = 0;
  std::size_t length = 64;
  hca::Completion completion;
  for (std::uint64_t next = 0; next < kCount;) {
    for (int i = 0; i < 3 && queue_.poll({&completion, 1}) == 1; ++i) misplaced += completion.wr_id != next++ ? 1 : 0;
    length = length == 64 ? 128 : 64;
    expect_ok(queue_.resize(length));
  }
  producer.join();
  EXPECT_EQ(misplaced, 0u);
}

// A thread that saw a smaller size would sleep over completions.
TEST_F(CompletionQueueTest, ResizingChangesNoSizeThatIsSeen) {
  constexpr std::size_t kWaiting = 10;
  expect_ok(queue_.resize(64));
  for (std::uint64_t i = 0; i < kWaiting; ++i) push(i);
  std::atomic<bool> is_over{false};
  std::uint64_t wrong = 0;
  std::thread observer([&] {
    while (!is_over) wrong += queue_.size() != kWaiting ? 1 : 0;
  });
  for (int i = 0; i < 100'000; ++i) expect_ok(queue_.resize(i % 2 == 0 ? 128 : 64));
  is_over = true;
  observer.join();
  EXPECT_EQ(wrong, 0u);
}

// Looks at the queue when it is called, while another thread destroys the queue.
class LookingSink final : public hca::CompletionSink {
 public:
  explicit LookingSink(int destroyer) : destroyer_(destroyer) {}

  void on_completion() override {
    is_called = true;
    await_asleep(destroyer_);
    left = queue->size();
  }
  void on_overflow() override {}

  CompletionQueue* queue = nullptr;
  std::atomic<bool> is_called{false};
  std::size_t left = 0;

 private:
  const int destroyer_;
};

// The sink may poll meanwhile.
TEST_F(CompletionQueueTest, DestructorTakesNothingWhileTheSinkIsCalled) {
  LookingSink sink(::gettid());
  auto queue = std::make_unique<CompletionQueue>(engine_, accounts_, 4, sink);
  sink.queue = queue.get();
  queue->arm(false);
  for (int i = 0; i < 2; ++i) queue->push({}, false);
  std::thread deliverer([&] { deliver(); });
  while (!sink.is_called) std::this_thread::yield();
  queue.reset();
  deliverer.join();
  EXPECT_EQ(sink.left, 2u);
}

}  // namespace
}  // namespace softdat::simnic::testing
