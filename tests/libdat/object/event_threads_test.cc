// SPDX-License-Identifier: BSD-2-Clause
// Many threads on one EVD: every event is delivered exactly once.
#include <vector>

#include "libdat/object/event_dispatcher.h"
#include "tests/libdat/object/waiter.h"

namespace softdat::object {
namespace {

constexpr int kThreads = 4;
constexpr std::uintptr_t kEvents = 4000;

class EventThreadsTest : public testing::Test {
 protected:
  // Each value once, from 1 to kEvents.
  void expect_all_once() {
    for (std::uintptr_t value = 1; value <= kEvents; ++value) EXPECT_EQ(seen_[value].load(), 1) << value;
  }
  void note(const Event& event) {
    const auto* software = std::get_if<SoftwareEvent>(&event.body);
    const std::uintptr_t value =
        software != nullptr ? software_value(event) : std::get<DtoCompletion>(event.body).cookie;
    seen_[value].fetch_add(1);
    taken_.fetch_add(1);
  }
  // Every value, as a software event or a completion.
  void produce(Handle evd, FakeCompletionQueue& queue) {
    for (std::uintptr_t value = 1; value <= kEvents; ++value) {
      if (value % 2 == 0) {
        post_software(evd, value);
      } else {
        queue.add({value, 0, 0, hca::CompletionStatus::kSuccess, hca::CompletionOpcode::kRecv, false});
      }
    }
  }
  void run(int threads, const std::function<void()>& body) {
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i) all.emplace_back(body);
    for (std::thread& thread : all) thread.join();
  }

  World world_;
  std::vector<std::atomic<int>> seen_ = std::vector<std::atomic<int>>(kEvents + 1);
  std::atomic<std::uintptr_t> taken_{0};
};

TEST_F(EventThreadsTest, DequeuersShareTheEvents) {
  const Handle evd = world_.make_evd(kSoftwareStream | kDtoStream, static_cast<std::int32_t>(kEvents));
  FakeCompletionQueue& queue = *world_.device->queues.back();
  std::thread producer([&] { produce(evd, queue); });
  run(kThreads, [&] {
    Event event;
    while (taken_.load() < kEvents) {
      if (evd_of(evd)->dequeue(event).ok()) note(event);
    }
  });
  producer.join();
  expect_all_once();
}

// Threads that wait on an EVD, dequeue from it and resize it take each event once. A refused thread tries again. The
// completion queue has one consumer at a time.
TEST_F(EventThreadsTest, WaitersAndDequeuersShareTheEvents) {
  const Handle evd = world_.make_evd(kSoftwareStream | kDtoStream, static_cast<std::int32_t>(kEvents));
  FakeCompletionQueue& queue = *world_.device->queues.back();
  std::thread producer([&] { produce(evd, queue); });
  std::thread resizer([&] {
    for (std::int32_t more = 0; taken_.load() < kEvents; more = 1 - more) {
      EXPECT_EQ(evd_of(evd)->queue().resize(static_cast<std::int32_t>(kEvents) + more), kOk);
    }
  });
  std::atomic<int> turn{0};
  run(kThreads, [&] {
    const bool is_waiter = turn.fetch_add(1) % 2 == 0;
    Event event;
    std::int32_t nmore = 0;
    while (taken_.load() < kEvents) {
      const Status status =
          is_waiter ? evd_of(evd)->waiting().wait(1'000, 1, event, nmore) : evd_of(evd)->dequeue(event);
      if (status.ok()) note(event);
    }
  });
  producer.join();
  resizer.join();
  expect_all_once();
}

// A sleeper between producer and consumer: no wake-up is lost.
TEST_F(EventThreadsTest, PingPongLosesNoWakeUp) {
  const Handle ping = world_.make_evd(kSoftwareStream, 4);
  const Handle pong = world_.make_evd(kSoftwareStream, 4);
  std::thread other([&] {
    Event event;
    std::int32_t nmore = 0;
    for (std::uintptr_t i = 1; i <= 2000; ++i) {
      ASSERT_EQ(evd_of(ping)->waiting().wait(kTimeoutInfinite, 1, event, nmore), kOk);
      post_software(pong, software_value(event));
    }
  });
  Event event;
  std::int32_t nmore = 0;
  for (std::uintptr_t i = 1; i <= 2000; ++i) {
    post_software(ping, i);
    ASSERT_EQ(evd_of(pong)->waiting().wait(kTimeoutInfinite, 1, event, nmore), kOk);
    EXPECT_EQ(software_value(event), i);
  }
  other.join();
}

// Every event that nobody took is announced by the CNO at some time.
TEST_F(EventThreadsTest, CnoLosesNoEvent) {
  const Handle cno = world_.make_cno();
  const Handle evd = world_.make_evd(kDtoStream, static_cast<std::int32_t>(kEvents), cno);
  FakeCompletionQueue& queue = *world_.device->queues.back();
  std::thread producer([&] {
    for (std::uintptr_t value = 1; value <= kEvents; ++value) {
      queue.add({value, 0, 0, hca::CompletionStatus::kSuccess, hca::CompletionOpcode::kRecv, false});
    }
  });
  Event event;
  while (taken_.load() < kEvents) {
    Handle hint = nullptr;
    ASSERT_EQ(cno_of(cno)->wait(kPatienceUs, hint), kOk);
    while (evd_of(evd)->dequeue(event).ok()) note(event);
  }
  producer.join();
  expect_all_once();
}

// The end of the IA, whatever its threads are doing.
TEST_F(EventThreadsTest, ClosingMayRaceWithEverything) {
  for (int round = 0; round < 50; ++round) {
    World world;
    const Handle cno = world.make_cno();
    const Handle evd = world.make_evd(kSoftwareStream, 8, cno);
    std::vector<std::thread> threads;
    threads.emplace_back([&] {
      Event event;
      std::int32_t nmore = 0;
      while (auto pin = evd_of(evd)) static_cast<void>(pin->waiting().wait(kTimeoutInfinite, 1, event, nmore));
    });
    threads.emplace_back([&] {
      Handle hint = nullptr;
      while (auto pin = cno_of(cno)) static_cast<void>(pin->wait(kTimeoutInfinite, hint));
    });
    threads.emplace_back([&] {
      while (auto pin = evd_of(evd)) static_cast<void>(pin->post_software(nullptr));
    });
    threads.emplace_back([&] {
      Handle pz = nullptr;
      while (auto pin = pin_handle<InterfaceAdapter>(world.ia)) {
        if (ProtectionZone::create(*pin, pz).ok()) static_cast<void>(pin_handle<ProtectionZone>(pz));
      }
    });
    EXPECT_EQ(world.close(false), kOk);
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(world.device->live_objects.load(), 0);
  }
}

}  // namespace
}  // namespace softdat::object
