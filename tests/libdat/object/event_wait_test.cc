// SPDX-License-Identifier: BSD-2-Clause
// dat_evd_wait, sentence by sentence; each test cites its own from the page.
#include <signal.h>

#include "libdat/object/event_dispatcher.h"
#include "tests/libdat/object/waiter.h"

namespace softdat::object {
namespace {

hca::Completion completion(std::uint64_t wr_id, bool solicited = false) {
  return {wr_id, 0, 64, hca::CompletionStatus::kSuccess, hca::CompletionOpcode::kRecv, solicited};
}

class EventWaitTest : public testing::Test {
 protected:
  Status wait(Handle evd, std::uint32_t timeout_us, std::int32_t threshold = 1) {
    return evd_of(evd)->waiting().wait(timeout_us, threshold, event_, nmore_);
  }
  void add_stream(NotifyMode mode) {
    ASSERT_EQ(evd_of(dto_)->streams().add_dto(mode, StatusDetail::kNoSubtype), kOk);
    modes_.push_back(mode);
  }
  void TearDown() override {
    while (!modes_.empty()) remove_stream();
  }
  // The one that was added last.
  void remove_stream() {
    evd_of(dto_)->streams().remove_dto(modes_.back());
    modes_.pop_back();
  }
  FakeCompletionQueue& queue() { return *world_.device->queues.front(); }

  World world_;
  Handle evd_ = world_.make_evd(kSoftwareStream, 8);
  Handle dto_ = world_.make_evd(kDtoStream, 8);
  Event event_;
  std::int32_t nmore_ = -1;
  std::vector<NotifyMode> modes_;
};

// "removes the first event from the Event Dispatcher event queue"
TEST_F(EventWaitTest, TakesTheFirstEvent) {
  post_software(evd_, 1);
  post_software(evd_, 2);
  EXPECT_EQ(wait(evd_, 0), kOk);
  EXPECT_EQ(software_value(event_), 1u);
  EXPECT_EQ(event_.evd, evd_);
  EXPECT_EQ(nmore_, 1);
}

// "effectively takes exclusive ownership ... Any other dequeue operation ... is rejected with a
// DAT_INVALID_STATE error code"
TEST_F(EventWaitTest, WaiterIsExclusive) {
  EvdWaiter waiter(evd_);
  waiter.await_blocked();
  EXPECT_EQ(wait(evd_, 0), kWaited);
  EXPECT_EQ(wait(evd_, kTimeoutInfinite), kWaited);
  EXPECT_EQ(wait(evd_, 0, 3), kWaited);
  EXPECT_EQ(evd_of(evd_)->dequeue(event_), kWaited);
  post_software(evd_, 1);
  EXPECT_EQ(waiter.join(), kOk);
  EXPECT_EQ(evd_of(evd_)->dequeue(event_), kEmpty);
}

// "The CNO ... is not triggered upon event arrival if there is a Consumer blocked"
TEST_F(EventWaitTest, CnoIsNotTriggeredWhileSomebodyWaits) {
  const Handle cno = world_.make_cno();
  ASSERT_EQ(evd_of(evd_)->cno_trigger().modify_cno(&*cno_of(cno)), kOk);
  EvdWaiter waiter(evd_);
  waiter.await_blocked();
  post_software(evd_, 1);
  EXPECT_EQ(waiter.join(), kOk);
  Handle hint = nullptr;
  EXPECT_EQ(cno_of(cno)->wait(0, hint), kBareEmpty);
}

// The waiter takes the event and leaves while the arrival is being told of.
TEST_F(EventWaitTest, CnoIsNotTriggeredForWhatALeavingWaiterHasTaken) {
  const Handle cno = world_.make_cno();
  std::optional<EvdWaiter> waiter;
  bool has_left = false;
  queue().after_counting([&] {
    if (!waiter || std::exchange(has_left, true)) return;
    EXPECT_EQ(waiter->join(), kOk);
  });
  ASSERT_EQ(evd_of(dto_)->cno_trigger().modify_cno(&*cno_of(cno)), kOk);
  waiter.emplace(dto_);
  waiter->await_blocked();
  queue().add(completion(1));
  if (!has_left) {
    EXPECT_EQ(waiter->join(), kOk);
  }
  Handle hint = nullptr;
  EXPECT_EQ(cno_of(cno)->wait(0, hint), kBareEmpty);
}

// ... but an event that the waiter missed is not kept from it.
TEST_F(EventWaitTest, CnoHearsOfWhatCameAfterTheWait) {
  const Handle cno = world_.make_cno();
  ASSERT_EQ(evd_of(evd_)->cno_trigger().modify_cno(&*cno_of(cno)), kOk);
  EXPECT_EQ(wait(evd_, 1'000), kTimedOut);
  post_software(evd_, 1);
  Handle hint = nullptr;
  EXPECT_EQ(cno_of(cno)->wait(0, hint), kOk);
  EXPECT_EQ(hint, evd_);
}

// "When timeout value is reached and the number of events on the EVD queue is below the threshold
// value, the operation fails ... no event is dequeued ... an nmore value is returned"
TEST_F(EventWaitTest, TimeoutLeavesTheEventsAndCountsThem) {
  post_software(evd_, 1);
  post_software(evd_, 2);
  EXPECT_EQ(wait(evd_, 1'000, 3), kTimedOut);
  EXPECT_EQ(nmore_, 2);
  EXPECT_EQ(wait(evd_, 0, 3), kTimedOut);
  EXPECT_EQ(nmore_, 2);
  EXPECT_EQ(wait(evd_, 0, 2), kOk);
  EXPECT_EQ(software_value(event_), 1u);
  EXPECT_EQ(nmore_, 1);
}

TEST_F(EventWaitTest, ZeroTimeoutOnAnEmptyQueueExpires) {
  EXPECT_EQ(wait(evd_, 0), kTimedOut);
  EXPECT_EQ(nmore_, 0);
  EXPECT_EQ(wait(dto_, 0), kTimedOut);
}

TEST_F(EventWaitTest, ZeroTimeoutProgressesTheDevice) {
  world_.device->on_progress([&] { queue().add(completion(5)); });
  EXPECT_EQ(wait(dto_, 0), kOk);
  EXPECT_EQ(std::get<DtoCompletion>(event_.body).cookie, 5u);
}

// "If a non-positive value is specified for threshold ..."; "larger than the Event Dispatcher queue
// length"
TEST_F(EventWaitTest, ThresholdIsOneToTheQueueLength) {
  post_software(evd_, 1);
  for (const std::int32_t threshold : {0, -1, 9, 0x7fffffff, -0x7fffffff}) {
    EXPECT_EQ(wait(evd_, 0, threshold), invalid_parameter(StatusDetail::kInvalidArg3)) << threshold;
  }
  EXPECT_EQ(wait(evd_, 0, 8), kTimedOut);
  EXPECT_EQ(nmore_, 1);
}

TEST_F(EventWaitTest, ThresholdHoldsTheWaiter) {
  EvdWaiter waiter(evd_, kPatienceUs, 3);
  waiter.await_blocked();
  for (std::uintptr_t i = 1; i <= 3; ++i) post_software(evd_, i);
  EXPECT_EQ(waiter.join(), kOk);
  EXPECT_EQ(software_value(waiter.event), 1u);
  EXPECT_EQ(waiter.nmore, 2);
}

// Completions and other events count together.
TEST_F(EventWaitTest, ThresholdCountsAllStreams) {
  const Handle mixed = world_.make_evd(kSoftwareStream | kDtoStream, 8);
  FakeCompletionQueue& cq = *world_.device->queues.back();
  EvdWaiter waiter(mixed, kPatienceUs, 4);
  waiter.await_blocked();
  cq.add(completion(1));
  post_software(mixed, 1);
  cq.add(completion(2));
  post_software(mixed, 2);
  EXPECT_EQ(waiter.join(), kOk);
  EXPECT_EQ(waiter.nmore, 3);
}

TEST_F(EventWaitTest, CompletionsWakeTheWaiter) {
  EvdWaiter waiter(dto_, kTimeoutInfinite);
  waiter.await_blocked();
  queue().add(completion(3));
  EXPECT_EQ(waiter.join(), kOk);
  EXPECT_EQ(std::get<DtoCompletion>(waiter.event.body).cookie, 3u);
}

// "called on an EVD in an unwaitable state, or if dat_evd_set_unwaitable is called on an EVD on
// which a thread is blocked ... DAT_INVALID_STATE"
TEST_F(EventWaitTest, UnwaitableRefusesAndUnblocks) {
  const Status unwaitable = invalid_state(StatusDetail::kInvalidStateEvdUnwaitable);
  EvdWaiter waiter(evd_, kTimeoutInfinite);
  waiter.await_blocked();
  EXPECT_EQ(evd_of(evd_)->waiting().set_unwaitable(), kOk);
  EXPECT_EQ(waiter.join(), unwaitable);
  post_software(evd_, 1);
  EXPECT_EQ(wait(evd_, 0), unwaitable);
  EXPECT_EQ(evd_of(evd_)->dequeue(event_), kOk);  // "can be retrieved with dat_evd_dequeue"
  EXPECT_EQ(evd_of(evd_)->waiting().clear_unwaitable(), kOk);
  EXPECT_EQ(wait(evd_, 0), kTimedOut);
}

// The wait has found the EVD waitable, and does not block yet.
TEST_F(EventWaitTest, BecomingUnwaitableAsAWaitBeginsRefusesIt) {
  queue().before_polling([this] { EXPECT_EQ(evd_of(dto_)->waiting().set_unwaitable(), kOk); });
  EXPECT_EQ(wait(dto_, 100'000), invalid_state(StatusDetail::kInvalidStateEvdUnwaitable));
}

// "The operation was aborted because IA was closed or EVD was destroyed"
TEST_F(EventWaitTest, FreeingAborts) {
  EvdWaiter waiter(evd_, kTimeoutInfinite);
  waiter.await_blocked();
  EXPECT_EQ(EventDispatcher::free(evd_of(evd_)), kOk);
  EXPECT_EQ(waiter.join(), Status{StatusType::kAbort});
}

TEST_F(EventWaitTest, ClosingTheAdapterAborts) {
  EvdWaiter waiter(evd_, kTimeoutInfinite);
  waiter.await_blocked();
  EXPECT_EQ(world_.close(false), kOk);
  EXPECT_EQ(waiter.join(), Status{StatusType::kAbort});
}

// "The operation was interrupted by a signal."
TEST_F(EventWaitTest, SignalInterrupts) {
  struct sigaction action {};
  struct sigaction old {};
  action.sa_handler = [](int) {};
  sigaction(SIGUSR1, &action, &old);
  EvdWaiter waiter(evd_, kTimeoutInfinite, 2);
  waiter.await_blocked();
  post_software(evd_, 1);
  std::atomic<bool> is_over{false};
  // A signal may come before the thread sleeps, and then counts for nothing: so again and again.
  std::thread signaller([&] {
    while (!is_over.load()) {
      pthread_kill(waiter.native(), SIGUSR1);
      std::this_thread::yield();
    }
  });
  EXPECT_TRUE(eventually([&] { return evd_of(evd_)->dequeue(event_).ok(); }));
  is_over.store(true);
  signaller.join();
  EXPECT_EQ(waiter.join(), Status{StatusType::kInterruptedCall});
  EXPECT_EQ(waiter.nmore, 1);
  sigaction(SIGUSR1, &old, nullptr);
}

// "configured for a Consumer-controlled event Notification ... the threshold value must be 1"
TEST_F(EventWaitTest, ThresholdMustBeOneWithControlledNotification) {
  for (const NotifyMode mode : {NotifyMode::kUnsignalled, NotifyMode::kSolicited}) {
    add_stream(mode);
    EXPECT_EQ(wait(dto_, 0, 2).type, StatusType::kInvalidState);
    EXPECT_EQ(wait(dto_, 0, 1), kTimedOut);
    remove_stream();
    EXPECT_EQ(wait(dto_, 0, 2), kTimedOut);
  }
}

TEST_F(EventWaitTest, ThresholdMustBeOneWhileAnyStreamIsControlled) {
  add_stream(NotifyMode::kThreshold);
  add_stream(NotifyMode::kSolicited);
  EXPECT_EQ(wait(dto_, 0, 2), invalid_state(StatusDetail::kInvalidStateEvdConfigSolicited));
  add_stream(NotifyMode::kUnsignalled);
  EXPECT_EQ(wait(dto_, 0, 2), invalid_state(StatusDetail::kInvalidStateEvdConfigNotify));
  EXPECT_EQ(wait(dto_, 0, 1), kTimedOut);
  remove_stream();
  remove_stream();
  EXPECT_EQ(wait(dto_, 0, 2), kTimedOut);
}

// The queue is armed for all completions: those of the solicited stream that ask for no attention come as quiet ones.
TEST_F(EventWaitTest, EachCompletionOfMixedStreamsWakesOrNot) {
  add_stream(NotifyMode::kSolicited);
  add_stream(NotifyMode::kThreshold);
  EvdWaiter waiter(dto_);
  waiter.await_blocked();
  queue().add(completion(1), true);
  EXPECT_EQ(evd_of(dto_)->dequeue(event_), kWaited);
  queue().add(completion(2));
  EXPECT_EQ(waiter.join(), kOk);
  EXPECT_EQ(std::get<DtoCompletion>(waiter.event.body).cookie, 1u);
  EXPECT_EQ(waiter.nmore, 1);
}

TEST_F(EventWaitTest, StreamThatJoinsMeanwhileWakesTheWaiter) {
  for (const NotifyMode mode : {NotifyMode::kUnsignalled, NotifyMode::kSolicited}) {
    add_stream(NotifyMode::kThreshold);
    EvdWaiter waiter(dto_);
    waiter.await_blocked();
    add_stream(mode);
    queue().add(completion(1));
    EXPECT_EQ(waiter.join(), kOk);
    remove_stream();
    remove_stream();
  }
  add_stream(NotifyMode::kSolicited);
  EvdWaiter waiter(dto_);
  waiter.await_blocked();
  add_stream(NotifyMode::kThreshold);
  queue().add(completion(2));
  EXPECT_EQ(waiter.join(), kOk);
}

TEST_F(EventWaitTest, QuietCompletionsWakeNobody) {
  add_stream(NotifyMode::kUnsignalled);
  EvdWaiter waiter(dto_);
  waiter.await_blocked();
  queue().add(completion(1), true);
  EXPECT_EQ(evd_of(dto_)->dequeue(event_), kWaited);
  queue().add(completion(2));
  EXPECT_EQ(waiter.join(), kOk);
  EXPECT_EQ(std::get<DtoCompletion>(waiter.event.body).cookie, 1u);
  EXPECT_EQ(waiter.nmore, 1);
}

TEST_F(EventWaitTest, OnlySolicitedCompletionsWakeASolicitedWaiter) {
  add_stream(NotifyMode::kSolicited);
  EvdWaiter waiter(dto_);
  waiter.await_blocked();
  queue().add(completion(1));
  queue().add(completion(2));
  queue().add(completion(3, true));
  EXPECT_EQ(waiter.join(), kOk);
  EXPECT_EQ(std::get<DtoCompletion>(waiter.event.body).cookie, 1u);
  EXPECT_EQ(waiter.nmore, 2);
}

// When the time is up the queue is not below the threshold: the event counts although it woke nobody.
TEST_F(EventWaitTest, QuietCompletionIsFoundAtTheTimeout) {
  add_stream(NotifyMode::kUnsignalled);
  EvdWaiter waiter(dto_, 300'000);
  waiter.await_blocked();
  queue().add(completion(1), true);
  EXPECT_EQ(waiter.join(), kOk);
  EXPECT_EQ(waiter.nmore, 0);
}

// "The enabling and disabling EVD has no effect on direct waiters"
TEST_F(EventWaitTest, DisabledDispatcherStillWakesItsWaiter) {
  ASSERT_EQ(evd_of(evd_)->cno_trigger().disable(), kOk);
  EvdWaiter waiter(evd_);
  waiter.await_blocked();
  post_software(evd_, 1);
  EXPECT_EQ(waiter.join(), kOk);
}

TEST_F(EventWaitTest, TimeoutsDoNotWrap) {
  EXPECT_EQ(duration_of(kTimeoutInfinite), base::Duration::max());
  EXPECT_EQ(duration_of(kTimeoutInfinite - 1), std::chrono::microseconds(0xfffffffe));
  EvdWaiter waiter(evd_, kTimeoutInfinite - 1);
  waiter.await_blocked();
  post_software(evd_, 1);
  EXPECT_EQ(waiter.join(), kOk);
}

// An endpoint that notifies seldom joins while a thread waits for completions that all notified until then. One comes
// when the EVD has the new mode, and the device has not been asked yet to tell of completions.
TEST_F(EventWaitTest, ACompletionWhileTheModeChangesIsNotMissed) {
  add_stream(NotifyMode::kThreshold);
  EvdWaiter waiter(dto_, kTimeoutInfinite);
  waiter.await_blocked();
  queue().before_arming([this] { queue().add(completion(1)); });
  add_stream(NotifyMode::kSolicited);
  EXPECT_EQ(waiter.join(), kOk);
}

// An endpoint whose completions all notify joins just as a thread asks to be told of solicited ones.
TEST_F(EventWaitTest, AStreamThatJoinsWhileAThreadArmsIsHeard) {
  add_stream(NotifyMode::kSolicited);
  queue().before_arming([this] { add_stream(NotifyMode::kThreshold); });
  EvdWaiter waiter(dto_, kTimeoutInfinite);
  waiter.await_blocked();
  queue().add(completion(1));
  EXPECT_EQ(waiter.join(), kOk);
}

}  // namespace
}  // namespace softdat::object
