// SPDX-License-Identifier: BSD-2-Clause
// A connect that comes before its listener: it asks again until its grace is over.
#include "simnic/connect_attempt.h"
#include "tests/simnic/world.h"

namespace softdat::simnic::testing {
namespace {

using std::chrono::milliseconds;

constexpr base::Time kStart{std::chrono::hours(1)};

ConnectAttempt attempt(base::Duration grace, base::Time deadline = base::kNever) {
  return {{}, {}, kStart, grace, deadline};
}

TEST(ConnectAttemptTest, PausesGrowAndTheLastTryFallsOnTheEndOfTheGrace) {
  ConnectAttempt asked = attempt(milliseconds(50));
  std::vector<base::Duration> tries;
  base::Time now = kStart;
  while (const auto next = asked.next_try(now)) {
    now = *next;
    tries.push_back(now - kStart);
  }
  EXPECT_EQ(tries, (std::vector<base::Duration>{milliseconds(1), milliseconds(3), milliseconds(7), milliseconds(15),
                                                milliseconds(31), milliseconds(47), milliseconds(50)}));
}

TEST(ConnectAttemptTest, WithoutGraceThereIsNoSecondTry) {
  ConnectAttempt asked = attempt(base::Duration::zero());
  EXPECT_FALSE(asked.next_try(kStart));
}

TEST(ConnectAttemptTest, NoTryReachesTheDeadline) {
  ConnectAttempt asked = attempt(milliseconds(100), kStart + milliseconds(3));
  EXPECT_EQ(asked.next_try(kStart), kStart + milliseconds(1));
  EXPECT_FALSE(asked.next_try(kStart + milliseconds(1)));
}

constexpr base::Duration kGrace = milliseconds(100);

class ConnectGraceTest : public ::testing::Test {
 protected:
  Host& here() { return world_.here(); }
  Host& there() { return world_.there(); }
  std::unique_ptr<hca::Listener> listen() { return expect_ok(there().nic().listen(kService, 8, log_)); }
  // Lets time pass in steps as small as those of a driver that is woken by each deadline.
  void pass(base::Duration time) {
    for (base::Duration step{}; step < time; step += milliseconds(1)) world_.pass(milliseconds(1));
  }

  World world_{{}, RnrPolicy::kWait, kGrace};
  ListenerLog log_;
};

TEST_F(ConnectGraceTest, AListenerThatComesWithinTheGraceIsFound) {
  Endpoint active(here()), passive(there());
  expect_ok(active.connect(there(), kService, "may I?"));
  pass(milliseconds(40));
  EXPECT_EQ(active.events(), "");
  EXPECT_EQ(active.qp().state(), QueuePairState::kConnecting);
  const auto listener = listen();
  pass(milliseconds(40));
  ASSERT_EQ(log_.requests.size(), 1u);
  const auto asked = log_.requests[0]->private_data();
  EXPECT_EQ(std::vector<std::byte>(asked.begin(), asked.end()), bytes("may I?"));
  expect_ok(log_.requests[0]->accept(passive.qp(), {}));
  world_.settle();
  EXPECT_EQ(active.events(), "established");
  pass(std::chrono::seconds(1));
  EXPECT_EQ(log_.requests.size(), 1u);
  EXPECT_EQ(active.events(), "");
}

TEST_F(ConnectGraceTest, WhoNeverListensIsTheEndOfItOnce) {
  Endpoint active(here());
  expect_ok(active.connect(there()));
  pass(kGrace - milliseconds(1));
  EXPECT_EQ(active.events(), "");
  pass(milliseconds(2));
  EXPECT_EQ(active.events(), "non-peer-rejected");
  const auto listener = listen();
  pass(std::chrono::seconds(1));
  EXPECT_EQ(active.events(), "");
  EXPECT_TRUE(log_.requests.empty());
}

TEST_F(ConnectGraceTest, AConsumersRefusalIsFinal) {
  const auto listener = listen();
  Endpoint active(here());
  expect_ok(active.connect(there()));
  world_.settle();
  expect_ok(log_.requests.at(0)->reject({}));
  world_.settle();
  EXPECT_EQ(active.events(), "peer-rejected");
}

TEST_F(ConnectGraceTest, AnAddressThatNobodyHasIsUnreachableAtOnce) {
  Endpoint active(here());
  expect_ok(active.qp().connect({.remote = {.ipv4 = 0x0a0000ff}, .service_id = 1, .private_data = {}}));
  world_.settle();
  EXPECT_EQ(active.events(), "unreachable");
}

TEST_F(ConnectGraceTest, EndsBeforeTheCallersTimeOut) {
  Endpoint active(here());
  expect_ok(active.connect(there(), kService, "", milliseconds(20)));
  pass(milliseconds(20));
  EXPECT_EQ(active.events(), "non-peer-rejected");
}

// The listener is there, and nobody answers: the caller's time-out counts from the connect.
TEST_F(ConnectGraceTest, TheTimeOutCountsFromTheFirstTry) {
  Endpoint active(here());
  expect_ok(active.connect(there(), kService, "", milliseconds(200)));
  pass(milliseconds(40));
  const auto listener = listen();
  pass(milliseconds(159));
  EXPECT_EQ(active.events(), "");
  pass(milliseconds(2));
  EXPECT_EQ(active.events(), "timed-out");
}

TEST_F(ConnectGraceTest, DisconnectEndsItAtOnce) {
  Endpoint active(here());
  expect_ok(active.connect(there()));
  pass(milliseconds(10));
  expect_ok(active.qp().disconnect(true));
  world_.settle();
  EXPECT_EQ(active.events(), "disconnected");
  const auto listener = listen();
  pass(std::chrono::seconds(1));
  EXPECT_TRUE(log_.requests.empty());
}

TEST_F(ConnectGraceTest, QueuePairMayGoMeanwhile) {
  {
    Endpoint active(here());
    expect_ok(active.connect(there()));
    pass(milliseconds(10));
  }
  const auto listener = listen();
  pass(std::chrono::seconds(1));
  EXPECT_TRUE(log_.requests.empty());
}

TEST_F(ConnectGraceTest, ABacklogThatEmptiesTakesTheNext) {
  const auto listener = expect_ok(there().nic().listen(kService, 1, log_));
  Endpoint one(here()), other(here()), passive(there());
  expect_ok(one.connect(there()));
  world_.settle();
  expect_ok(other.connect(there()));
  pass(milliseconds(10));
  ASSERT_EQ(log_.requests.size(), 1u);
  expect_ok(log_.requests[0]->accept(passive.qp(), {}));
  pass(milliseconds(40));
  EXPECT_EQ(log_.requests.size(), 2u);
  EXPECT_EQ(one.events(), "established");
  EXPECT_EQ(other.events(), "");
}

}  // namespace
}  // namespace softdat::simnic::testing
