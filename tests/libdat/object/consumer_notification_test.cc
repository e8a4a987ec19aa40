// SPDX-License-Identifier: BSD-2-Clause
// dat_cno_*, sentence by sentence.
#include "libdat/object/consumer_notification.h"

#include <signal.h>

#include <list>

#include "tests/libdat/object/waiter.h"

namespace softdat::object {
namespace {

class CnoWaiter {
 public:
  // Pinned here, so that the thread gets in whatever becomes of the CNO.
  explicit CnoWaiter(Handle cno)
      : thread_([this, pin = cno_of(cno)]() mutable {
          status = pin->wait(kTimeoutInfinite, evd);
          is_done.store(true);
          pin.reset();
        }) {}
  ~CnoWaiter() {
    if (thread_.joinable()) thread_.join();
  }
  Status join() {
    thread_.join();
    return status;
  }
  pthread_t native() { return thread_.native_handle(); }

  Status status;
  Handle evd = this;
  std::atomic<bool> is_done{false};

 private:
  std::thread thread_;
};

struct AgentLog {
  std::atomic<int> calls{0};
  std::atomic<Handle> evd{nullptr};
  static void record(void* instance, Handle evd) {
    auto* log = static_cast<AgentLog*>(instance);
    log->evd.store(evd);
    log->calls.fetch_add(1);
  }
  WaitAgent agent() { return {this, record}; }
};

class ConsumerNotificationTest : public testing::Test {
 protected:
  Status wait(std::uint32_t timeout_us = 0) { return cno_of(cno_)->wait(timeout_us, hint_); }

  World world_;
  AgentLog log_;
  Handle cno_ = world_.make_cno();
  Handle hint_ = &world_;
};

// "On a timeout, evd_handle is explicitly set to a null handle"
TEST_F(ConsumerNotificationTest, TimeoutIsAnEmptyQueueWithNull) {
  EXPECT_EQ(wait(0), kBareEmpty);
  EXPECT_EQ(hint_, nullptr);
  hint_ = &world_;
  EXPECT_EQ(wait(1'000), kBareEmpty);
  EXPECT_EQ(hint_, nullptr);
}

TEST_F(ConsumerNotificationTest, TriggersMergeAndAreTakenOnce) {
  const Handle evd = world_.make_evd(kSoftwareStream, 8, cno_);
  post_software(evd, 1);
  post_software(evd, 2);
  EXPECT_EQ(wait(), kOk);
  EXPECT_EQ(hint_, evd);
  EXPECT_EQ(wait(), kBareEmpty);
}

TEST_F(ConsumerNotificationTest, OneTriggerUnblocksOneWaiter) {
  const Handle evd = world_.make_evd(kSoftwareStream, 8, cno_);
  std::list<CnoWaiter> waiters;
  for (int i = 0; i < 3; ++i) waiters.emplace_back(cno_);
  const auto done = [&] {
    int count = 0;
    for (CnoWaiter& waiter : waiters) count += waiter.is_done.load() ? 1 : 0;
    return count;
  };
  for (int i = 1; i <= 3; ++i) {
    post_software(evd, 1);
    EXPECT_TRUE(eventually([&] { return done() == i; }));
  }
  for (CnoWaiter& waiter : waiters) {
    EXPECT_EQ(waiter.join(), kOk);
    EXPECT_EQ(waiter.evd, evd);
  }
}

// "All the waiters ... are unblocked with the NULL handle ... when the IA instance is destroyed"
TEST_F(ConsumerNotificationTest, ClosingTheAdapterUnblocksAllWithNull) {
  ASSERT_EQ(cno_of(cno_)->modify_agent(log_.agent()), kOk);
  std::list<CnoWaiter> waiters;
  for (int i = 0; i < 3; ++i) waiters.emplace_back(cno_);
  log_.evd.store(&log_);
  EXPECT_EQ(world_.close(false), kOk);
  for (CnoWaiter& waiter : waiters) {
    EXPECT_EQ(waiter.join(), kOk);
    EXPECT_EQ(waiter.evd, nullptr);
  }
  EXPECT_EQ(log_.calls.load(), 1);  // by the time close() has returned
  EXPECT_EQ(log_.evd.load(), nullptr);
}

// "... or when all EVDs the CNO is associated with are freed"
TEST_F(ConsumerNotificationTest, FreeingTheLastDispatcherUnblocksAllWithNull) {
  const Handle first = world_.make_evd(kSoftwareStream, 8, cno_);
  const Handle second = world_.make_evd(kSoftwareStream, 8, cno_);
  ASSERT_EQ(cno_of(cno_)->modify_agent(log_.agent()), kOk);
  CnoWaiter waiter(cno_);
  EXPECT_EQ(EventDispatcher::free(evd_of(first)), kOk);
  EXPECT_FALSE(waiter.is_done.load());
  // The waiter may not have begun yet, and then nothing unblocks it.
  std::vector<Handle> more{second};
  EXPECT_TRUE(eventually([&] {
    EXPECT_EQ(EventDispatcher::free(evd_of(more.back())), kOk);
    more.push_back(world_.make_evd(kSoftwareStream, 8, cno_));
    return waiter.is_done.load();
  }));
  EXPECT_EQ(waiter.join(), kOk);
  EXPECT_EQ(waiter.evd, nullptr);
  EXPECT_TRUE(eventually([&] { return log_.calls.load() == 1; }));
  EXPECT_EQ(log_.evd.load(), nullptr);
}

TEST_F(ConsumerNotificationTest, HintNamesNoFreedDispatcher) {
  const Handle first = world_.make_evd(kSoftwareStream, 8, cno_);
  const Handle second = world_.make_evd(kSoftwareStream, 8, cno_);
  post_software(first, 1);
  EXPECT_EQ(EventDispatcher::free(evd_of(first)), kOk);
  EXPECT_EQ(wait(), kOk);
  EXPECT_EQ(hint_, second) << "null would say that no dispatcher is left";
}

TEST_F(ConsumerNotificationTest, SignalInterrupts) {
  struct sigaction action {};
  struct sigaction old {};
  action.sa_handler = [](int) {};
  sigaction(SIGUSR1, &action, &old);
  CnoWaiter waiter(cno_);
  EXPECT_TRUE(eventually([&] {
    pthread_kill(waiter.native(), SIGUSR1);
    return waiter.is_done.load();
  }));
  EXPECT_EQ(waiter.join(), Status{StatusType::kInterruptedCall});
  sigaction(SIGUSR1, &old, nullptr);
}

// "A CNO cannot be deleted while it is referenced by an Event Dispatcher or while a thread is
// blocked on it."
TEST_F(ConsumerNotificationTest, FreeIsRefusedWhileInUse) {
  const Status in_use = invalid_state(StatusDetail::kInvalidStateCnoInUse);
  const Handle evd = world_.make_evd(kSoftwareStream, 8, cno_);
  EXPECT_EQ(ConsumerNotification::free(cno_of(cno_)), in_use);
  ASSERT_EQ(evd_of(evd)->cno_trigger().modify_cno(nullptr), kOk);
  EXPECT_EQ(ConsumerNotification::free(cno_of(cno_)), kOk);
  EXPECT_FALSE(cno_of(cno_));
  EXPECT_EQ(evd_of(evd)->query().cno, nullptr);
}

// "After it is invoked, it is no longer associated with the CNO."
TEST_F(ConsumerNotificationTest, AgentIsCalledOnceUntilItIsAssociatedAgain) {
  const Handle evd = world_.make_evd(kSoftwareStream, 8, cno_);
  ASSERT_EQ(cno_of(cno_)->modify_agent(log_.agent()), kOk);
  EXPECT_EQ(cno_of(cno_)->query().agent.function, AgentLog::record);
  post_software(evd, 1);
  post_software(evd, 2);
  EXPECT_TRUE(eventually([&] { return log_.calls.load() == 1; }));
  EXPECT_EQ(log_.evd.load(), evd);
  EXPECT_EQ(cno_of(cno_)->query().agent.function, nullptr);
  ASSERT_EQ(cno_of(cno_)->modify_agent(log_.agent()), kOk);
  post_software(evd, 3);
  EXPECT_TRUE(eventually([&] { return log_.calls.load() == 2; }));
  // "This is in addition to any local delivery through the CNO."
  EXPECT_EQ(wait(), kOk);
}

// An agent holds nothing: it may call what it likes, even end the world it was called from.
struct Destroyer {
  World* world;
  Handle evd;
  std::atomic<bool> is_done{false};
  static void run(void* instance, Handle evd) {
    auto* self = static_cast<Destroyer*>(instance);
    Event event;
    EXPECT_EQ(evd, self->evd);
    EXPECT_EQ(evd_of(evd)->dequeue(event), kOk);
    EXPECT_EQ(EventDispatcher::free(evd_of(evd)), kOk);
    EXPECT_EQ(self->world->close(false), kOk);
    self->is_done.store(true);
  }
};

TEST_F(ConsumerNotificationTest, AgentMayFreeEverything) {
  Destroyer destroyer{&world_, nullptr};
  ASSERT_EQ(cno_of(cno_)->modify_agent({&destroyer, Destroyer::run}), kOk);
  destroyer.evd = world_.make_evd(kSoftwareStream, 8, cno_);
  post_software(destroyer.evd, 1);
  EXPECT_TRUE(eventually([&] { return destroyer.is_done.load(); }));
}

TEST_F(ConsumerNotificationTest, TriggerByHand) {
  cno_of(cno_)->trigger(nullptr);
  EXPECT_EQ(wait(), kOk);
  EXPECT_EQ(hint_, nullptr);
}

}  // namespace
}  // namespace softdat::object
