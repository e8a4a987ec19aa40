// SPDX-License-Identifier: BSD-2-Clause
// Who calls whom, and when: the event thread over the fake libraries, whose descriptors are eventfds.
#include "verbs/event_thread.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "tests/verbs/stand.h"
#include "verbs/private_data.h"

namespace softdat::verbs {
namespace {

// Counts its calls.
class Counter final : public EventTarget {
 public:
  explicit Counter(EventThread& events, int again = 0) : events_(events), again_(again) {}
  bool await(int calls) {
    std::unique_lock lock(mutex_);
    return called_.wait_for(lock, std::chrono::seconds(240), [&] { return calls_ >= calls; });
  }
  int calls() {
    const std::lock_guard lock(mutex_);
    return calls_;
  }
  base::Time last() {
    const std::lock_guard lock(mutex_);
    return last_;
  }
  std::vector<rdma_cm_event_type> heard() {
    const std::lock_guard lock(mutex_);
    return heard_;
  }

 private:
  void on_wake() override { count(); }
  void on_async_event(ibv_event_type type) override {
    EXPECT_EQ(type, IBV_EVENT_DEVICE_FATAL);
    count();
  }
  void on_cm_event(const CmEvent& event) override {
    {
      const std::lock_guard lock(mutex_);
      heard_.push_back(event.type);
    }
    count();
  }
  void count() {
    const std::lock_guard lock(mutex_);
    ++calls_;
    last_ = base::Clock::now();
    if (again_-- > 0) events_.post(*this);
    called_.notify_all();
  }

  EventThread& events_;
  std::mutex mutex_;
  std::condition_variable called_;
  int again_;
  int calls_ = 0;
  base::Time last_{};
  std::vector<rdma_cm_event_type> heard_;
};

TEST(EventThreadTest, CallsWhoeverIsPostedFromAnyThread) {
  Stand stand;
  constexpr int kThreads = 4;
  constexpr int kRounds = 500;
  std::vector<std::thread> posters;
  std::atomic<int> missed{0};
  for (int i = 0; i < kThreads; ++i) {
    posters.emplace_back([&] {
      Counter target(stand.events());
      for (int round = 1; round <= kRounds; ++round) {
        stand.events().post(target);
        if (!target.await(round)) ++missed;
      }
      stand.events().forget(target);
    });
  }
  for (std::thread& poster : posters) poster.join();
  EXPECT_EQ(missed.load(), 0);
}

TEST(EventThreadTest, ATargetMayPostItselfWithinItsCall) {
  Stand stand;
  Counter target(stand.events(), 3);
  stand.events().post(target);
  EXPECT_TRUE(target.await(4));
  stand.events().forget(target);
  EXPECT_EQ(target.calls(), 4);
}

TEST(EventThreadTest, WakesNotBeforeTheTimeAndTheLaterCallCounts) {
  Stand stand;
  Counter early(stand.events());
  Counter late(stand.events());
  const base::Time begin = base::Clock::now();
  stand.events().wake_at(late, begin + std::chrono::hours(1));
  stand.events().wake_at(late, begin + std::chrono::milliseconds(20));
  stand.events().wake_at(early, begin + std::chrono::milliseconds(5));
  EXPECT_TRUE(early.await(1));
  EXPECT_TRUE(late.await(1));
  EXPECT_GE(early.last(), begin + std::chrono::milliseconds(5));
  EXPECT_GE(late.last(), begin + std::chrono::milliseconds(20));
  stand.events().forget(early);
  stand.events().forget(late);
}

// One that is forgotten is not called for what it asked for before.
TEST(EventThreadTest, CallsNobodyThatIsForgotten) {
  Stand stand;
  Counter witness(stand.events());
  for (int round = 1; round <= 200; ++round) {
    Counter target(stand.events());
    stand.events().post(target);
    stand.events().wake_at(target, base::Clock::now());
    stand.events().forget(target);
    const int calls = target.calls();
    stand.events().post(witness);
    ASSERT_TRUE(witness.await(round));
    EXPECT_EQ(target.calls(), calls);
  }
  stand.events().forget(witness);
}

// The descriptors are heard again after each event, and all that is there is heard.
TEST(EventThreadTest, HearsEveryEventInOrder) {
  Stand stand;
  Counter target(stand.events());
  rdma_cm_id* const id = fake::make_id();
  stand.events().add(key_of(id), target);
  std::vector<rdma_cm_event_type> said;
  for (int i = 0; i < 50; ++i) {
    for (const auto type : {RDMA_CM_EVENT_ADDR_RESOLVED, RDMA_CM_EVENT_ROUTE_RESOLVED}) {
      fake::say(id, type);
      said.push_back(type);
    }
    ASSERT_TRUE(target.await(static_cast<int>(said.size())));
  }
  EXPECT_EQ(target.heard(), said);
  stand.events().forget(target);
  stand.events().bury_and_wait(id);
  EXPECT_EQ(fake::ids_alive(), 0);
}

// Both of its channels say so. Their descriptors stay readable, and the thread is as idle as before.
TEST(EventThreadTest, ADeviceThatIsRemovedHasFailedAndIsNotAskedAgain) {
  Stand stand;
  Counter device(stand.events());
  Counter witness(stand.events());
  stand.events().add(kDeviceKey, device);
  fake::remove_device(stand.adapter().context, stand.adapter().completions);
  ASSERT_TRUE(device.await(2));
  const int asked = fake::times_asked_for_completions();
  for (int round = 1; round <= 200; ++round) {
    stand.events().post(witness);
    ASSERT_TRUE(witness.await(round));
  }
  EXPECT_EQ(fake::times_asked_for_completions(), asked);
  EXPECT_EQ(device.calls(), 2);
  stand.events().forget(device);
  stand.events().forget(witness);
}

// With the descriptors it would keep the connections alive, and peers would not hear of the death of its parent.
TEST(EventThreadTest, AChildOfForkKeepsNoDescriptorOfTheDevice) {
  const Stand stand;
  const std::array numbers{stand.adapter().context->async_fd, stand.adapter().completions->fd,
                           stand.adapter().connections->fd};
  const auto is_open = [](int fd) { return ::fcntl(fd, F_GETFD) >= 0; };
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(static_cast<int>(std::count_if(numbers.begin(), numbers.end(), is_open)));
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(std::all_of(numbers.begin(), numbers.end(), is_open));
}

// A request that comes when its listener has just gone. On iWARP a refusal without the mark would be a consumer's.
TEST(EventThreadTest, ARequestThatNobodyHearsIsNotRefusedAsByAConsumer) {
  for (const bool is_iwarp : {false, true}) {
    Traits traits;
    traits.is_iwarp = is_iwarp;
    Stand stand(traits);
    rdma_cm_id* const request = fake::make_id();
    fake::say(request, RDMA_CM_EVENT_CONNECT_REQUEST);
    const base::Time deadline = base::Clock::now() + std::chrono::seconds(240);
    while (fake::ids_alive() > 0 && base::Clock::now() < deadline) std::this_thread::yield();
    ASSERT_EQ(fake::ids_alive(), 0);
    const int expected = is_iwarp ? static_cast<int>(refusal_mark().size()) : fake::kNotByConsumer;
    EXPECT_EQ(fake::last_refusal(), expected);
  }
}

}  // namespace
}  // namespace softdat::verbs
