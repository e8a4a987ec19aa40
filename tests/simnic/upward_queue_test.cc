// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/upward_queue.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/simnic/live.h"

namespace softdat::simnic::testing {
namespace {

struct ScriptedSink final : hca::QueuePairSink {
  void on_connection_event(const hca::ConnectionEvent& event) override { script(event); }
  std::function<void(const hca::ConnectionEvent&)> script;
};

ConnectionNews news(hca::QueuePairSink& sink, ConnectionEventType type) {
  return {&sink, {type, {}}};
}

TEST(UpwardQueueTest, DeliversInOrderAndOnce) {
  UpwardQueue queue;
  std::vector<ConnectionEventType> heard;
  ScriptedSink sink;
  sink.script = [&](const auto& event) { heard.push_back(event.type); };
  for (int i = 0; i < 100; ++i) queue.push(&sink, news(sink, static_cast<ConnectionEventType>(i % 8)));
  EXPECT_TRUE(queue.deliver());
  EXPECT_FALSE(queue.deliver());
  ASSERT_EQ(heard.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(heard[static_cast<std::size_t>(i)], static_cast<ConnectionEventType>(i % 8));
}

TEST(UpwardQueueTest, WhatASinkCausesIsDeliveredAfterItReturned) {
  UpwardQueue queue;
  int depth = 0, calls = 0;
  ScriptedSink sink;
  sink.script = [&](const auto&) {
    EXPECT_EQ(++depth, 1);
    if (++calls < 5) queue.push(&sink, news(sink, ConnectionEventType::kBroken));
    EXPECT_FALSE(queue.deliver());
    --depth;
  };
  queue.push(&sink, news(sink, ConnectionEventType::kBroken));
  queue.deliver();
  EXPECT_EQ(calls, 5);
}

TEST(UpwardQueueTest, AForgottenOwnerIsNotHeardAgain) {
  UpwardQueue queue;
  int kept = 0, dropped = 0;
  ScriptedSink keeper, goer;
  keeper.script = [&](const auto&) { ++kept; };
  goer.script = [&](const auto&) { ++dropped; };
  for (int i = 0; i < 3; ++i) {
    queue.push(&keeper, news(keeper, ConnectionEventType::kBroken));
    queue.push(&goer, news(goer, ConnectionEventType::kBroken));
  }
  queue.forget(&goer);
  queue.deliver();
  EXPECT_EQ(kept, 3);
  EXPECT_EQ(dropped, 0);
}

TEST(UpwardQueueTest, ASinkMayForgetItsOwnOwner) {
  UpwardQueue queue;
  int calls = 0;
  ScriptedSink sink;
  sink.script = [&](const auto&) {
    ++calls;
    queue.forget(&sink);
  };
  queue.push(&sink, news(sink, ConnectionEventType::kBroken));
  queue.push(&sink, news(sink, ConnectionEventType::kBroken));
  queue.deliver();
  EXPECT_EQ(calls, 1);
}

TEST(UpwardQueueTest, ForgettingWaitsForTheCallOfAnotherThread) {
  UpwardQueue queue;
  std::atomic<bool> is_inside{false}, may_leave{false}, has_left{false};
  ScriptedSink sink;
  sink.script = [&](const auto&) {
    is_inside.store(true);
    EXPECT_TRUE(await([&] { return may_leave.load(); }));
    has_left.store(true);
  };
  queue.push(&sink, news(sink, ConnectionEventType::kBroken));
  std::jthread deliverer([&] { queue.deliver(); });
  ASSERT_TRUE(await([&] { return is_inside.load(); }));
  std::jthread releaser([&] { may_leave.store(true); });
  queue.forget(&sink);
  EXPECT_TRUE(has_left.load());
}

TEST(UpwardQueueTest, OneThreadSpeaksAtATimeAndNothingIsLost) {
  UpwardQueue queue;
  std::atomic<int> inside{0}, calls{0};
  ScriptedSink sink;
  sink.script = [&](const auto&) {
    EXPECT_EQ(inside.fetch_add(1), 0);
    calls.fetch_add(1);
    inside.fetch_sub(1);
  };
  constexpr int kThreads = 4, kEach = 2000;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < kEach; ++i) {
          queue.push(&sink, news(sink, ConnectionEventType::kBroken));
          queue.deliver();
        }
      });
    }
  }
  queue.deliver();
  EXPECT_EQ(calls.load(), kThreads * kEach);
}

}  // namespace
}  // namespace softdat::simnic::testing
