// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/upcall_queue.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <functional>

#include "tests/asleep.h"
#include "tests/simnic/live.h"

namespace softdat::simnic::testing {
namespace {

struct ScriptedSink final : hca::QueuePairSink {
  void on_connection_event(const hca::ConnectionEvent& event) override { script(event); }
  std::function<void(const hca::ConnectionEvent&)> script;
};

ConnectionUpcall upcall(hca::QueuePairSink& sink, ConnectionEventType type) {
  return {&sink, {type, {}}};
}

void post(UpcallQueue& queue, const void* owner, Upcall upcall) {
  queue.reserve(1);
  queue.post(owner, std::move(upcall));
}

TEST(UpcallQueueTest, DeliversInOrderAndOnce) {
  UpcallQueue queue;
  std::vector<ConnectionEventType> heard;
  ScriptedSink sink;
  sink.script = [&](const auto& event) { heard.push_back(event.type); };
  for (int i = 0; i < 100; ++i) post(queue, &sink, upcall(sink, static_cast<ConnectionEventType>(i % 8)));
  EXPECT_TRUE(queue.deliver());
  EXPECT_FALSE(queue.deliver());
  ASSERT_EQ(heard.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(heard[static_cast<std::size_t>(i)], static_cast<ConnectionEventType>(i % 8));
}

TEST(UpcallQueueTest, WhatASinkCausesIsDeliveredAfterItReturned) {
  UpcallQueue queue;
  int depth = 0, calls = 0;
  ScriptedSink sink;
  sink.script = [&](const auto&) {
    EXPECT_EQ(++depth, 1);
    if (++calls < 5) post(queue, &sink, upcall(sink, ConnectionEventType::kBroken));
    EXPECT_FALSE(queue.deliver());
    --depth;
  };
  post(queue, &sink, upcall(sink, ConnectionEventType::kBroken));
  queue.deliver();
  EXPECT_EQ(calls, 5);
}

TEST(UpcallQueueTest, AForgottenOwnerIsNotHeardAgain) {
  UpcallQueue queue;
  int kept = 0, dropped = 0;
  ScriptedSink keeper, goer;
  keeper.script = [&](const auto&) { ++kept; };
  goer.script = [&](const auto&) { ++dropped; };
  for (int i = 0; i < 3; ++i) {
    post(queue, &keeper, upcall(keeper, ConnectionEventType::kBroken));
    post(queue, &goer, upcall(goer, ConnectionEventType::kBroken));
  }
  queue.forget(&goer);
  queue.deliver();
  EXPECT_EQ(kept, 3);
  EXPECT_EQ(dropped, 0);
}

TEST(UpcallQueueTest, ASinkMayForgetItsOwnOwner) {
  UpcallQueue queue;
  int calls = 0;
  ScriptedSink sink;
  sink.script = [&](const auto&) {
    ++calls;
    queue.forget(&sink);
  };
  post(queue, &sink, upcall(sink, ConnectionEventType::kBroken));
  post(queue, &sink, upcall(sink, ConnectionEventType::kBroken));
  queue.deliver();
  EXPECT_EQ(calls, 1);
}

// Its call lasts until the test lets it return.
struct HeldSink final : hca::QueuePairSink {
  void on_connection_event(const hca::ConnectionEvent&) override {
    is_inside.store(true);
    EXPECT_TRUE(await([&] { return may_leave.load(); }));
    has_left.store(true);
  }
  std::atomic<bool> is_inside{false}, may_leave{false}, has_left{false};
};

TEST(UpcallQueueTest, ForgettingWaitsForTheCallOfAnotherThread) {
  UpcallQueue queue;
  HeldSink sink;
  post(queue, &sink, upcall(sink, ConnectionEventType::kBroken));
  std::jthread deliverer([&] { queue.deliver(); });
  ASSERT_TRUE(await([&] { return sink.is_inside.load(); }));
  std::jthread releaser([&] { sink.may_leave.store(true); });
  queue.forget(&sink);
  EXPECT_TRUE(sink.has_left.load());
}

// Destructors call forget(): a cancellation there would end the process.
TEST(UpcallQueueTest, ForgettingIsNoCancellationPoint) {
  UpcallQueue queue;
  HeldSink sink;
  post(queue, &sink, upcall(sink, ConnectionEventType::kBroken));
  std::jthread deliverer([&] { queue.deliver(); });
  ASSERT_TRUE(await([&] { return sink.is_inside.load(); }));
  std::atomic<bool> has_forgotten{false};
  std::atomic<int> forgetter_id{0};
  std::thread forgetter([&] {
    forgetter_id.store(::gettid());
    queue.forget(&sink);
    has_forgotten.store(true);
  });
  ASSERT_TRUE(await([&] { return forgetter_id.load() != 0; }));
  await_asleep(forgetter_id.load());
  ::pthread_cancel(forgetter.native_handle());
  sink.may_leave.store(true);
  forgetter.join();
  EXPECT_TRUE(has_forgotten.load());
}

TEST(UpcallQueueTest, OneThreadSpeaksAtATimeAndNothingIsLost) {
  UpcallQueue queue;
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
          post(queue, &sink, upcall(sink, ConnectionEventType::kBroken));
          queue.deliver();
        }
      });
    }
  }
  queue.deliver();
  EXPECT_EQ(calls.load(), kThreads * kEach);
}

struct CountingSink final : hca::CompletionSink {
  void on_completion() override { ++completions; }
  void on_overflow() override {
    ++overflows;
    if (forgetful != nullptr) forgetful->forget(this);
  }
  int completions = 0, overflows = 0;
  UpcallQueue* forgetful = nullptr;
};

TEST(UpcallQueueTest, WhatIsSaidOnceIsNotRepeatedAndWhatIsSaidAgainIs) {
  UpcallQueue queue;
  CountingSink one, other;
  queue.reserve(4);
  for (int i = 0; i < 3; ++i) {
    for (CountingSink* sink : {&one, &other}) {
      queue.post_coalesced(sink, CompletionUpcall{sink});
      queue.post_counted(sink, OverflowUpcall{sink});
    }
  }
  queue.deliver();
  for (const CountingSink* sink : {&one, &other}) {
    EXPECT_EQ(sink->completions, 1);
    EXPECT_EQ(sink->overflows, 3);
  }
  queue.post_coalesced(&one, CompletionUpcall{&one});
  queue.deliver();
  EXPECT_EQ(one.completions, 2);
}

TEST(UpcallQueueTest, WhoIsForgottenByItsOwnSinkIsNotToldAgain) {
  UpcallQueue queue;
  CountingSink sink;
  sink.forgetful = &queue;
  queue.reserve(1);
  queue.post_counted(&sink, OverflowUpcall{&sink});
  queue.post_counted(&sink, OverflowUpcall{&sink});
  queue.deliver();
  EXPECT_EQ(sink.overflows, 1);
}

// More than ever fitted at once, with places given back and others that stay.
TEST(UpcallQueueTest, PromisedPlacesAreThereWhateverElseIsSaid) {
  UpcallQueue queue;
  int calls = 0;
  ScriptedSink sink;
  sink.script = [&](const auto&) { ++calls; };
  CountingSink counting;
  for (int round = 1; round <= 50; ++round) {
    queue.reserve(static_cast<std::size_t>(round) + 2);
    queue.reserve(1);
    for (int i = 0; i < round; ++i) {
      Upcall upcall = ConnectionUpcall{&sink, {ConnectionEventType::kBroken, {}}, nullptr};
      EXPECT_TRUE(queue.try_post(&sink, upcall));
    }
    queue.post_counted(&counting, OverflowUpcall{&counting});
    for (int i = 0; i < round; ++i)
      queue.post(&sink, ConnectionUpcall{&sink, {ConnectionEventType::kBroken, {}}, nullptr});
    queue.release(2);
    queue.deliver();
    queue.release(1);
    EXPECT_EQ(calls, 2 * round);
    EXPECT_EQ(counting.overflows, round);
    calls = 0;
  }
}

}  // namespace
}  // namespace softdat::simnic::testing
