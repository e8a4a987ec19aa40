// SPDX-License-Identifier: BSD-2-Clause
// Which thread waits in the carrier while threads of the program sleep: one of them, or the engine thread.
#include <gtest/gtest.h>

#include <csetjmp>
#include <thread>
#include <utility>

#include "simnic/engine.h"
#include "simnic/engine_thread.h"
#include "tests/simnic/engine_parts.h"
#include "tests/simnic/live.h"

namespace softdat::simnic::testing {
namespace {

// A carrier without peers in which a thread of the program can wait. It counts the waits of each kind.
class LeadCarrier final : public PeerlessCarrier {
 public:
  std::size_t turn(base::Time) override {
    turns.fetch_add(1);
    return 0;
  }
  void wait(base::Time deadline) override {
    waits.fetch_add(1);
    sleep(deadline);
  }
  base::WakeReason wait_cancellably(base::Time deadline) override {
    leads.fetch_add(1);
    if (std::exchange(jumps, false)) {
      inside.store(0);
      std::longjmp(out, 1);
    }
    is_led.store(true);
    const base::WakeReason reason = sleep(deadline);
    is_led.store(false);
    return reason;
  }
  bool can_wait_cancellably() const override { return true; }
  void interrupt() override {
    interrupted.store(true);
    count.notify();
  }

  std::atomic<int> turns{0}, waits{0}, leads{0}, inside{0}, most_inside{0};
  std::atomic<bool> interrupted{false};
  std::atomic<bool> is_led{false};
  bool jumps = false;  // the next lead leaves by `out`, as a signal handler of the program may
  std::jmp_buf out;
  base::EventCount count;

 private:
  base::WakeReason sleep(base::Time deadline) {
    const int now = inside.fetch_add(1) + 1;
    if (now > most_inside.load()) most_inside.store(now);
    base::WakeReason reason = base::WakeReason::kNotified;
    while (reason == base::WakeReason::kNotified && !interrupted.exchange(false)) {
      const auto ticket = count.prepare();
      if (interrupted.load()) {
        count.cancel();
      } else {
        reason = count.wait(ticket, deadline);
      }
    }
    inside.fetch_sub(1);
    return reason;
  }
};

// A thread that sleeps until end() says that its event is there.
class Sleeper {
 public:
  explicit Sleeper(Engine& engine) : engine_(engine), thread_([this] { run(); }) {}
  ~Sleeper() { end(); }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  base::EventCount& count() { return count_; }
  void end() {
    is_done_.store(true);
    count_.notify();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void run() {
    while (!is_done_.load()) {
      const auto ticket = count_.prepare();
      if (is_done_.load()) return count_.cancel();
      engine_.sleep(count_, ticket, base::kNever);
    }
  }

  Engine& engine_;
  base::EventCount count_;
  std::atomic<bool> is_done_{false};
  std::thread thread_;
};

class LeadTest : public ::testing::Test {
 protected:
  // The first sleep of a thread leaves the engine thread where it is. A sleep that follows soon leads, so the sleeper
  // is woken until one has followed soon enough.
  bool await_lead(Sleeper& sleeper) {
    return await([&] {
      if (carrier_->is_led.load()) return true;
      sleeper.count().notify();
      return false;
    });
  }

  LeadCarrier* const carrier_ = new LeadCarrier;
  Engine engine_{std::unique_ptr<transport::Carrier>(carrier_), Drive::kThread};
};

TEST_F(LeadTest, AThreadThatSleepsAgainAtOnceWaitsInTheCarrierAlone) {
  Sleeper sleeper(engine_);
  ASSERT_TRUE(await_lead(sleeper));
  const int waits = carrier_->waits.load();
  sleeper.end();
  EXPECT_EQ(carrier_->most_inside.load(), 1);
  // Nobody sleeps any more: the engine thread takes over by itself.
  ASSERT_TRUE(await([&] { return carrier_->waits.load() > waits; }));
}

// An interrupt may concern another thread, so the leader makes a turn and sleeps again.
TEST_F(LeadTest, ALeaderTurnsForWhatHasCome) {
  Sleeper sleeper(engine_);
  ASSERT_TRUE(await_lead(sleeper));
  const int turns = carrier_->turns.load();
  carrier_->interrupt();
  EXPECT_TRUE(await([&] { return carrier_->turns.load() > turns; }));
}

TEST_F(LeadTest, SomebodyWaitsInTheCarrierWhileAThreadSleeps) {
  Sleeper leader(engine_);
  ASSERT_TRUE(await_lead(leader));
  Sleeper follower(engine_);
  ASSERT_TRUE(await([&] { return follower.count().has_waiters(); }));
  leader.end();
  // The engine thread, or the other one, which leads now.
  ASSERT_TRUE(await([&] { return carrier_->inside.load() == 1; }));
  EXPECT_EQ(carrier_->most_inside.load(), 1);
}

// A timer that another thread sets while one leads.
TEST_F(LeadTest, ALeaderHearsOfAnEarlierDeadline) {
  Sleeper sleeper(engine_);
  ASSERT_TRUE(await_lead(sleeper));
  CountingTimer timer;
  {
    const Engine::Hold hold(engine_);
    engine_.timers().set(timer, base::Clock::now() + std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(await([&] { return timer.runs.load() == 1; }));
  sleeper.end();
}

// A signal handler may jump out of dat_evd_wait. The lead is lost then, and the engine thread takes over after some
// seconds.
TEST_F(LeadTest, ALeadThatIsLostEnds) {
  base::EventCount count;
  carrier_->jumps = true;
  // Sleeps that end at once, because the first one does not lead.
  if (setjmp(carrier_->out) == 0) {
    for (;;) engine_.sleep(count, count.prepare(), base::Clock::now());
  }
  const int waits = carrier_->waits.load();
  EXPECT_TRUE(await([&] { return carrier_->waits.load() > waits; }));
}

// A leader would be woken for each message that another thread polls for.
TEST_F(LeadTest, PollingInEarnestSendsALeaderAsideToo) {
  Sleeper sleeper(engine_);
  ASSERT_TRUE(await_lead(sleeper));
  ASSERT_TRUE(await([&] {
    engine_.progress();
    return carrier_->inside.load() == 0;
  }));
  const int leads = carrier_->leads.load();
  for (int i = 0; i < 10'000; ++i) engine_.progress();
  // The sleeper follows from then on. If it led again, each 64th poll would end a lead.
  EXPECT_LE(carrier_->leads.load() - leads, 20);
  // Nobody polls any more: the engine thread takes over.
  ASSERT_TRUE(await([&] { return carrier_->inside.load() == 1; }));
}

TEST_F(LeadTest, NoWakeUpIsLostAndTheCarrierHasOneWaiterAtATime) {
  constexpr int kRounds = 2000;
  struct Partner {
    base::EventCount count;
    std::atomic<int> told{0};
  };
  Partner partners[2];
  const auto run = [&](int self) {
    Partner& own = partners[self];
    Partner& other = partners[1 - self];
    for (int round = 1; round <= kRounds; ++round) {
      if (self == 0 || round > 1) {
        other.told.fetch_add(1);
        other.count.notify();
      }
      while (own.told.load() < round) {
        const auto ticket = own.count.prepare();
        if (own.told.load() >= round) {
          own.count.cancel();
        } else {
          engine_.sleep(own.count, ticket, base::kNever);
        }
      }
    }
    other.told.store(kRounds);
    other.count.notify();
  };
  std::thread first([&] { run(0); });
  std::thread second([&] { run(1); });
  first.join();
  second.join();
  EXPECT_EQ(carrier_->most_inside.load(), 1);
}

}  // namespace
}  // namespace softdat::simnic::testing
