// SPDX-License-Identifier: BSD-2-Clause
// Which thread waits in the carrier while threads of the program sleep: one of them, or the engine thread.
#include <gtest/gtest.h>

#include <csetjmp>
#include <thread>
#include <utility>

#include "simnic/engine.h"
#include "simnic/engine_thread.h"
#include "tests/simnic/live.h"

namespace softdat::simnic::testing {
namespace {

// A carrier without peers in which a thread of the program can wait. It counts the waits of each kind.
class LeadCarrier final : public transport::Carrier {
 public:
  transport::ListenResult listen(std::uint64_t, std::uint32_t, transport::PortSink&) override { return {}; }
  std::unique_ptr<transport::Channel> connect(const transport::Address&, const transport::Offer&,
                                              transport::ChannelSink&) override {
    return nullptr;
  }
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

class LeadTest : public ::testing::Test {
 protected:
  // A thread that sleeps until `is_done`, which others set before they notify.
  std::thread sleeper(base::EventCount& count, const std::atomic<bool>& is_done) {
    return std::thread([&] {
      while (!is_done.load()) sleep_once(count, is_done);
    });
  }
  void sleep_once(base::EventCount& count, const std::atomic<bool>& is_done) {
    const auto ticket = count.prepare();
    if (is_done.load()) {
      count.cancel();
    } else {
      engine_.sleep(count, ticket, base::kNever);
    }
  }
  // The first sleep of a thread leaves the engine thread where it is. One that follows soon leads, so the sleeper is
  // woken until one has followed soon enough.
  bool await_lead(base::EventCount& count) {
    return await([&] {
      if (carrier_->is_led.load()) return true;
      count.notify();
      return false;
    });
  }
  static void end(base::EventCount& count, std::atomic<bool>& is_done) {
    is_done.store(true);
    count.notify();
  }

  LeadCarrier* const carrier_ = new LeadCarrier;
  Engine engine_{std::unique_ptr<transport::Carrier>(carrier_), Drive::kThread};
};

TEST_F(LeadTest, AThreadThatSleepsAgainAtOnceWaitsInTheCarrierAlone) {
  base::EventCount count;
  std::atomic<bool> is_done{false};
  std::thread thread = sleeper(count, is_done);
  ASSERT_TRUE(await_lead(count));
  const int waits = carrier_->waits.load();
  end(count, is_done);
  thread.join();
  EXPECT_EQ(carrier_->most_inside.load(), 1);
  // Nobody sleeps any more: the engine thread takes over by itself.
  ASSERT_TRUE(await([&] { return carrier_->waits.load() > waits; }));
}

// What it was interrupted for may be another thread's, so it looks, and sleeps on.
TEST_F(LeadTest, ALeaderTurnsForWhatHasCome) {
  base::EventCount count;
  std::atomic<bool> is_done{false};
  std::thread thread = sleeper(count, is_done);
  ASSERT_TRUE(await_lead(count));
  const int turns = carrier_->turns.load();
  carrier_->interrupt();
  EXPECT_TRUE(await([&] { return carrier_->turns.load() > turns; }));
  end(count, is_done);
  thread.join();
}

TEST_F(LeadTest, SomebodyWaitsInTheCarrierWhileAThreadSleeps) {
  base::EventCount leaders, followers;
  std::atomic<bool> is_leader_done{false}, is_follower_done{false};
  std::thread leader = sleeper(leaders, is_leader_done);
  ASSERT_TRUE(await_lead(leaders));
  std::thread follower = sleeper(followers, is_follower_done);
  ASSERT_TRUE(await([&] { return followers.has_waiters(); }));
  end(leaders, is_leader_done);
  leader.join();
  // The engine thread, or the other one, which leads now.
  ASSERT_TRUE(await([&] { return carrier_->inside.load() == 1; }));
  EXPECT_EQ(carrier_->most_inside.load(), 1);
  end(followers, is_follower_done);
  follower.join();
}

// A timer that another thread sets while one leads.
TEST_F(LeadTest, ALeaderHearsOfAnEarlierDeadline) {
  class OneTimer final : public base::Timer {
   public:
    void on_timer() override { runs.fetch_add(1); }
    std::atomic<int> runs{0};
  };
  base::EventCount count;
  std::atomic<bool> is_done{false};
  std::thread thread = sleeper(count, is_done);
  ASSERT_TRUE(await_lead(count));
  OneTimer timer;
  {
    const Engine::Hold hold(engine_);
    engine_.timers().set(timer, base::Clock::now() + std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(await([&] { return timer.runs.load() == 1; }));
  end(count, is_done);
  thread.join();
}

// A handler that jumps out of dat_evd_wait takes the lead along. The adapter goes on after some seconds.
TEST_F(LeadTest, ALeadThatIsLostEnds) {
  base::EventCount count;
  carrier_->jumps = true;
  // Without a deadline the first sleep would not end, which does not lead.
  if (setjmp(carrier_->out) == 0) {
    for (;;) engine_.sleep(count, count.prepare(), base::Clock::now());
  }
  const int waits = carrier_->waits.load();
  EXPECT_TRUE(await([&] { return carrier_->waits.load() > waits; }));
}

// Packets would wake the leader for each message that another thread takes by polling.
TEST_F(LeadTest, PollingInEarnestSendsALeaderAsideToo) {
  base::EventCount count;
  std::atomic<bool> is_done{false};
  std::thread thread = sleeper(count, is_done);
  ASSERT_TRUE(await_lead(count));
  ASSERT_TRUE(await([&] {
    engine_.progress();
    return carrier_->inside.load() == 0;
  }));
  const int leads = carrier_->leads.load();
  for (int i = 0; i < 10'000; ++i) engine_.progress();
  // It follows from then on. If it led on, each 64th poll would end a lead.
  EXPECT_LE(carrier_->leads.load() - leads, 20);
  // Nobody polls any more: the engine thread takes over.
  ASSERT_TRUE(await([&] { return carrier_->inside.load() == 1; }));
  end(count, is_done);
  thread.join();
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
