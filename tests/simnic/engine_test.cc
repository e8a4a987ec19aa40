// SPDX-License-Identifier: BSD-2-Clause
// Who turns when: the engine thread while nobody polls, the pollers while they do.
#include "simnic/engine.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <thread>
#include <utility>

#include "simnic/engine_thread.h"
#include "tests/simnic/engine_parts.h"
#include "tests/simnic/live.h"

namespace softdat::simnic::testing {
namespace {

// A carrier without peers that counts what is asked of it.
class StillCarrier final : public PeerlessCarrier {
 public:
  std::size_t turn(base::Time) override {
    turns.fetch_add(1);
    if (const auto act = std::exchange(in_next_turn, nullptr)) act();
    return 0;
  }
  transport::Look look() override {
    if (!says_quiet) return kTakesTurn;
    if (const auto act = std::exchange(in_next_look, nullptr)) act();
    return {};
  }
  void wait(base::Time deadline) override {
    last_deadline.store(deadline.time_since_epoch().count());
    waits.fetch_add(1);
    while (is_deaf.load() || !interrupted.exchange(false)) {
      const auto ticket = count.prepare();
      if (interrupted.load() && !is_deaf.load()) {
        count.cancel();
      } else if (count.wait(ticket, deadline) == base::WakeReason::kTimedOut) {
        break;
      }
    }
    returns.fetch_add(1);
  }
  void interrupt() override {
    interrupts.fetch_add(1);
    interrupted.store(true);
    count.notify();
  }

  std::atomic<int> turns{0}, waits{0}, returns{0}, interrupts{0};
  std::atomic<base::Time::rep> last_deadline{0};
  std::atomic<bool> interrupted{false};
  std::atomic<bool> is_deaf{false};  // a wait does not hear of interrupts, as if its thread had no processor
  bool says_quiet = false;
  std::function<void()> in_next_turn, in_next_look;  // with the baton
  base::EventCount count;
};

class CountingTask final : public Task {
 public:
  void run_with_baton() override { ++runs; }
  int runs = 0;
};

class EngineTest : public ::testing::Test {
 protected:
  StillCarrier* const carrier_ = new StillCarrier;
  Engine engine_{std::unique_ptr<transport::Carrier>(carrier_), Drive::kThread};
};

TEST_F(EngineTest, AnIdleEngineWaitsWithoutADeadline) {
  ASSERT_TRUE(await([&] { return carrier_->waits.load() == 1; }));
  EXPECT_EQ(carrier_->last_deadline.load(), base::kNever.time_since_epoch().count());
  EXPECT_EQ(carrier_->turns.load(), 1);
  EXPECT_EQ(carrier_->returns.load(), 0);
}

TEST_F(EngineTest, PollingInEarnestSendsTheEngineThreadAsideAndItComesBack) {
  ASSERT_TRUE(await([&] { return carrier_->waits.load() == 1; }));
  ASSERT_TRUE(await([&] {
    engine_.progress();
    return carrier_->returns.load() == 1;
  }));
  EXPECT_EQ(carrier_->interrupts.load(), 1);
  // Nobody polls any more: it takes over by itself.
  ASSERT_TRUE(await([&] { return carrier_->waits.load() >= 2; }));
  EXPECT_EQ(carrier_->last_deadline.load(), base::kNever.time_since_epoch().count());
}

// Most polls of a busy receiver: one look brings many messages.
TEST_F(EngineTest, PollsThatFindACompletionAtOnceSendTheEngineThreadAsideToo) {
  ASSERT_TRUE(await([&] { return carrier_->waits.load() == 1; }));
  ASSERT_TRUE(await([&] {
    engine_.note_found();
    return carrier_->returns.load() == 1;
  }));
  EXPECT_EQ(carrier_->interrupts.load(), 1);
}

TEST_F(EngineTest, WhatATurnOfTheEngineThreadPutsOffIsDoneBeforeItWaits) {
  ASSERT_TRUE(await([&] { return carrier_->waits.load() == 1; }));
  CountingTask task;
  carrier_->in_next_turn = [&] { engine_.run_next_turn(task); };
  carrier_->interrupt();
  ASSERT_TRUE(await([&] { return carrier_->waits.load() == 2; }));
  const Engine::Hold hold(engine_);
  EXPECT_EQ(task.runs, 1);
  EXPECT_EQ(carrier_->turns.load(), 2);
  engine_.forget(task);
}

// The caller of forget() is in the middle of a change, perhaps of the object that was rung.
TEST_F(EngineTest, ForgettingATaskRunsNoOther) {
  CountingTask rung, forgotten;
  {
    const Engine::Hold hold(engine_);
    std::thread([&] {
      engine_.ring(rung);
      engine_.ring(forgotten);
    }).join();
    engine_.forget(forgotten);
    EXPECT_EQ(rung.runs, 0);
  }
  EXPECT_EQ(rung.runs, 1);
  EXPECT_EQ(forgotten.runs, 0);
}

TEST_F(EngineTest, AFewPollsDoNotDisturbTheEngineThread) {
  ASSERT_TRUE(await([&] { return carrier_->waits.load() == 1; }));
  for (std::uint64_t i = 0; i + 1 < EngineThread::kBusyPolls; ++i) engine_.progress();
  EXPECT_EQ(carrier_->interrupts.load(), 0);
  EXPECT_EQ(carrier_->returns.load(), 0);
}

// It would stand aside next, and rest although nobody polls any more.
TEST_F(EngineTest, ASleepAfterManyPollsIsHeardByAnEngineThreadThatHasNotGoneAsideYet) {
  ASSERT_TRUE(await([&] { return carrier_->waits.load() == 1; }));
  carrier_->is_deaf.store(true);
  for (std::uint64_t i = 0; i < EngineThread::kBusyPolls; ++i) engine_.progress();
  EXPECT_EQ(carrier_->interrupts.load(), 1);
  base::EventCount nothing;
  EXPECT_EQ(engine_.sleep(nothing, nothing.prepare(), base::Clock::now()), base::WakeReason::kTimedOut);
  EXPECT_EQ(carrier_->interrupts.load(), 2);
  carrier_->is_deaf.store(false);
  carrier_->count.notify();
  ASSERT_TRUE(await([&] { return carrier_->waits.load() == 2; }));
}

// A carrier that has to ask the kernel is asked once in a round of eight queues.
TEST(EngineOfManyQueuesTest, PollsOfManyQueuesInTurnMakeOneTurnInARound) {
  auto* const carrier = new StillCarrier;
  Engine engine{std::unique_ptr<transport::Carrier>(carrier), Drive::kByHand};
  std::array<char, 8> queues{};
  const auto round = [&] {
    for (const char& queue : queues) engine.progress(&queue);
  };
  for (int i = 0; i < 3; ++i) round();  // the engine learns that the carrier asks
  const int before = carrier->turns.load();
  for (int i = 0; i < 100; ++i) round();
  EXPECT_EQ(carrier->turns.load() - before, 100);
}

TEST_F(EngineTest, ASleeperIsWokenByANotification) {
  base::EventCount count;
  std::atomic<bool> is_set{false};
  std::thread notifier([&] {
    EXPECT_TRUE(await([&] { return count.has_waiters(); }));
    is_set.store(true);
    count.notify();
  });
  while (!is_set.load()) {
    const auto ticket = count.prepare();
    if (is_set.load()) {
      count.cancel();
    } else {
      EXPECT_EQ(engine_.sleep(count, ticket, base::kNever), base::WakeReason::kNotified);
    }
  }
  notifier.join();
}

TEST_F(EngineTest, ASleepEndsAtItsDeadline) {
  base::EventCount count;
  EXPECT_EQ(engine_.sleep(count, count.prepare(), base::Clock::now()), base::WakeReason::kTimedOut);
}

TEST_F(EngineTest, ADeadlineSetWhileTheEngineThreadWaitsIsKept) {
  ASSERT_TRUE(await([&] { return carrier_->waits.load() == 1; }));
  CountingTimer timer;
  {
    const Engine::Hold hold(engine_);
    engine_.timers().set(timer, base::Clock::now() + std::chrono::milliseconds(2));
  }
  EXPECT_TRUE(await([&] { return timer.runs.load() == 1; }));
}

// As when a poll meets a refusal, and is to ask again later.
TEST_F(EngineTest, ADeadlineThatAPollSetsWhileTheEngineThreadWaitsIsKept) {
  CountingTimer timer;
  ASSERT_TRUE(await([&] { return carrier_->waits.load() == 1; }));
  {
    const Engine::Hold hold(engine_);
    carrier_->in_next_turn = [&] { engine_.timers().set(timer, base::Clock::now() + std::chrono::milliseconds(1)); };
  }
  engine_.progress();
  EXPECT_TRUE(await([&] { return timer.runs.load() == 1; }));
}

TEST_F(EngineTest, ADeadlineThatALookSetsWhileTheEngineThreadWaitsIsKept) {
  CountingTimer timer;
  bool is_set = false;
  ASSERT_TRUE(await([&] { return carrier_->waits.load() == 1; }));
  {
    const Engine::Hold hold(engine_);
    carrier_->says_quiet = true;
    carrier_->in_next_look = [&] {
      engine_.timers().set(timer, base::Clock::now() + std::chrono::milliseconds(1));
      is_set = true;
    };
  }
  while (!is_set) engine_.progress();  // the first poll makes a turn
  EXPECT_TRUE(await([&] { return timer.runs.load() == 1; }));
}

TEST_F(EngineTest, RingingFromManyThreadsLosesNoRing) {
  constexpr int kThreads = 4, kRings = 2000;
  struct Counter final : Task {
    void run_with_baton() override { seen = posted.load(); }
    std::atomic<int> posted{0};
    std::atomic<int> seen{0};
  };
  std::vector<Counter> counters(kThreads);
  {
    std::vector<std::jthread> threads;
    for (Counter& counter : counters) {
      for (int copy = 0; copy < 2; ++copy) {
        threads.emplace_back([&] {
          for (int i = 0; i < kRings; ++i) {
            counter.posted.fetch_add(1);
            engine_.ring(counter);
            if (i % 16 == 0) engine_.progress();
          }
        });
      }
    }
  }
  // A thread that held the baton when the last ringer returned answers as it leaves, and nobody else need come.
  for (Counter& counter : counters) EXPECT_TRUE(await([&] { return counter.seen.load() == 2 * kRings; }));
  const Engine::Hold hold(engine_);
  for (Counter& counter : counters) engine_.forget(counter);
}

TEST(EngineByHandTest, WhatIsPutOffRunsInTheNextTurnOrAtOnceWhenInHaste) {
  Engine engine(std::make_unique<StillCarrier>(), Drive::kByHand);
  CountingTask task;
  {
    const Engine::Hold hold(engine);
    engine.run_next_turn(task);
  }
  EXPECT_EQ(task.runs, 0);
  engine.turn({}, Haste::kPatient);
  EXPECT_EQ(task.runs, 1);
  engine.turn({}, Haste::kPatient);
  EXPECT_EQ(task.runs, 1);
}

// The engine thread stands aside because of such polls, so some of them do its work.
TEST(EngineByHandTest, EverySixtyFourthPollThatFindsACompletionAtOnceMakesATurn) {
  auto owned = std::make_unique<StillCarrier>();
  const StillCarrier& carrier = *owned;
  Engine engine(std::move(owned), Drive::kByHand);
  for (int i = 0; i < 640; ++i) engine.note_found();
  EXPECT_EQ(carrier.turns.load(), 10);
}

// Polls of an engine whose carrier has nothing to do are mostly no turns; but nothing that is due waits for one.
TEST(EngineByHandTest, QuietPollsLeaveTurnsOut) {
  auto owned = std::make_unique<StillCarrier>();
  StillCarrier& carrier = *owned;
  Engine engine(std::move(owned), Drive::kByHand);
  const auto turns_of = [&](int polls) {
    const int before = carrier.turns.load();
    for (int i = 0; i < polls; ++i) engine.progress();
    return carrier.turns.load() - before;
  };
  EXPECT_EQ(turns_of(640), 640);
  carrier.says_quiet = true;
  EXPECT_EQ(turns_of(640), 10);
  CountingTask task;
  for (int i = 0; i < 3; ++i) {
    {
      const Engine::Hold hold(engine);
      engine.run_next_turn(task);
    }
    engine.progress();
    EXPECT_EQ(task.runs, i + 1);
  }
  CountingTimer timer;
  {
    const Engine::Hold hold(engine);
    engine.timers().set(timer, base::Time{} + std::chrono::hours(1));
  }
  EXPECT_EQ(turns_of(640), 640);
  {
    const Engine::Hold hold(engine);
    timer.cancel_timer();
  }
  EXPECT_EQ(turns_of(640), 10);
}

// A ringer that finds the baton taken leaves its task to the holder.
TEST(EngineByHandTest, WhatIsRungDuringALookHasRunWhenThePollReturns) {
  auto owned = std::make_unique<StillCarrier>();
  StillCarrier& carrier = *owned;
  Engine engine(std::move(owned), Drive::kByHand);
  CountingTask task;
  engine.progress();  // makes a turn
  carrier.says_quiet = true;
  carrier.in_next_look = [&] { engine.ring(task); };
  engine.progress();
  EXPECT_EQ(task.runs, 1);
  EXPECT_EQ(carrier.turns.load(), 1);
}

TEST(EngineByHandTest, AForgottenTaskDoesNotRun) {
  Engine engine(std::make_unique<StillCarrier>(), Drive::kByHand);
  CountingTask task;
  {
    const Engine::Hold hold(engine);
    engine.run_next_turn(task);
    engine.run_at_end(task);
    engine.forget(task);
  }
  engine.turn({});
  EXPECT_EQ(task.runs, 0);
}

}  // namespace
}  // namespace softdat::simnic::testing
