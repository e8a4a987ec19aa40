// SPDX-License-Identifier: BSD-2-Clause
// dat_cno_wait, sentence by sentence (docs/CONFORMANCE.md).
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <cstdlib>
#include <list>

#include "tests/conformance/jump_out.h"
#include "tests/conformance/peer.h"
#include "tests/conformance/waiter.h"

namespace softdat::conformance {
namespace {

class CnoWait : public testing::Test {
 protected:
  // Waits until the notification object is triggered.
  DAT_EVD_HANDLE wait() {
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
    require(dat_cno_wait(cno_, kPatience, &evd), "dat_cno_wait");
    return evd;
  }

  DAT_RETURN wait_briefly(DAT_EVD_HANDLE* evd) { return dat_cno_wait(cno_, kShortWait, evd); }

  Adapter adapter_;
  DAT_CNO_HANDLE cno_ = adapter_.make_cno();
  DAT_EVD_HANDLE evd_ = adapter_.make_software_evd(8, cno_);
};

// The wait ends when a dispatcher of the set is notified, and names it.
TEST_F(CnoWait, NamesTheDispatcherThatTriggered) {
  const DAT_EVD_HANDLE other = adapter_.make_software_evd(8, cno_);
  post_software_event(other, 1);
  EXPECT_EQ(wait(), other);
  post_software_event(evd_, 2);
  EXPECT_EQ(wait(), evd_);
}

TEST_F(CnoWait, IsLeftByAHandlerWhenTheHandleCannotBeWritten) {
  if (std::getenv("SOFTDAT_SANITIZE") != nullptr) GTEST_SKIP() << "the sanitizer has the CNO pinned while it writes";
  const DAT_CNO_HANDLE cno = adapter_.make_cno();
  jump_out_of([&](void* nowhere) { dat_cno_wait(cno, 0, static_cast<DAT_EVD_HANDLE*>(nowhere)); });
  EXPECT_THAT(dat_cno_free(cno), succeeds());
}

TEST_F(CnoWait, BlocksUntilNotified) {
  CnoWaiter waiter(cno_, kForever);
  waiter.await_blocked();
  EXPECT_FALSE(waiter.is_done());
  post_software_event(evd_, 1);
  EXPECT_THAT(waiter.join(), succeeds());
  EXPECT_EQ(waiter.evd(), evd_);
}

// The event itself stays on its dispatcher.
TEST_F(CnoWait, TakesNoEvent) {
  post_software_event(evd_, 7);
  EXPECT_EQ(wait(), evd_);
  EXPECT_EQ(software_value(next_event(evd_)), 7u);
}

// A notification that came while nobody waited is not lost.
TEST_F(CnoWait, RemembersANotificationThatCameBefore) {
  post_software_event(evd_, 1);
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  EXPECT_THAT(dat_cno_wait(cno_, 0, &evd), succeeds());
  EXPECT_EQ(evd, evd_);
}

TEST_F(CnoWait, TimeoutSaysQueueEmptyAndSetsTheHandleToNull) {
  DAT_EVD_HANDLE evd = evd_;
  EXPECT_THAT(wait_briefly(&evd), is_empty_queue());
  EXPECT_EQ(evd, DAT_HANDLE_NULL);
  evd = evd_;
  EXPECT_THAT(dat_cno_wait(cno_, 0, &evd), is_empty_queue());
  EXPECT_EQ(evd, DAT_HANDLE_NULL);
}

TEST_F(CnoWait, DisabledDispatcherDeliversNoNotification) {
  ASSERT_THAT(dat_evd_disable(evd_), succeeds());
  post_software_event(evd_, 1);
  DAT_EVD_HANDLE evd = evd_;
  EXPECT_THAT(wait_briefly(&evd), is_empty_queue());
  ASSERT_THAT(dat_evd_enable(evd_), succeeds());
  drain(evd_);
  post_software_event(evd_, 2);
  EXPECT_EQ(wait(), evd_);
}

// Who waits on the dispatcher itself comes before the notification object.
TEST_F(CnoWait, WaitedDispatcherDeliversNoNotification) {
  EvdWaiter direct(evd_);
  direct.await_blocked();
  post_software_event(evd_, 1);
  ASSERT_THAT(direct.join(), succeeds());
  DAT_EVD_HANDLE evd = evd_;
  EXPECT_THAT(wait_briefly(&evd), is_empty_queue());
}

// The handle is only a hint: the event may be gone by the time the waiter looks.
TEST_F(CnoWait, ReturnedDispatcherMayHaveBeenEmptied) {
  post_software_event(evd_, 1);
  drain(evd_);
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  const DAT_RETURN result = dat_cno_wait(cno_, 0, &evd);
  EXPECT_THAT(result, testing::AnyOf(succeeds(), is_empty_queue()));
  EXPECT_TRUE(is_quiet(evd_));
}

TEST_F(CnoWait, UnwaitableDispatcherStillTriggers) {
  ASSERT_THAT(dat_evd_set_unwaitable(evd_), succeeds());
  post_software_event(evd_, 1);
  EXPECT_EQ(wait(), evd_);
}

TEST_F(CnoWait, ClosingTheAdapterUnblocksEveryWaiterWithNull) {
  std::list<CnoWaiter> waiters;
  for (int i = 0; i < 3; ++i) waiters.emplace_back(cno_, kForever);
  for (CnoWaiter& waiter : waiters) waiter.await_blocked();
  ASSERT_THAT(dat_ia_close(adapter_.handle(), DAT_CLOSE_ABRUPT_FLAG), succeeds());
  adapter_.release();
  for (CnoWaiter& waiter : waiters) {
    EXPECT_THAT(waiter.join(), succeeds());
    EXPECT_EQ(waiter.evd(), DAT_HANDLE_NULL);
  }
}

TEST_F(CnoWait, FreeingTheLastDispatcherUnblocksEveryWaiterWithNull) {
  const DAT_EVD_HANDLE other = adapter_.make_software_evd(8, cno_);
  std::list<CnoWaiter> waiters;
  for (int i = 0; i < 2; ++i) waiters.emplace_back(cno_, kForever);
  for (CnoWaiter& waiter : waiters) waiter.await_blocked();
  ASSERT_THAT(dat_evd_free(evd_), succeeds());
  for (CnoWaiter& waiter : waiters) EXPECT_FALSE(waiter.is_done());
  ASSERT_THAT(dat_evd_free(other), succeeds());
  for (CnoWaiter& waiter : waiters) {
    EXPECT_THAT(waiter.join(), succeeds());
    EXPECT_EQ(waiter.evd(), DAT_HANDLE_NULL);
  }
}

TEST_F(CnoWait, SignalInterruptsTheWaiter) {
  CnoWaiter waiter(cno_, kForever);
  waiter.await_blocked();
  waiter.interrupt();
  EXPECT_THAT(waiter.join(), fails_with(DAT_INTERRUPTED_CALL));
}

TEST_F(CnoWait, SignalInterruptsTheWaiterThoughItsHandlerRestartsSystemCalls) {
  CnoWaiter waiter(cno_, kForever);
  waiter.await_blocked();
  waiter.interrupt(SA_RESTART);
  EXPECT_THAT(waiter.join(), fails_with(DAT_INTERRUPTED_CALL));
}

TEST_F(CnoWait, FreedCnoIsAnInvalidHandle) {
  const DAT_CNO_HANDLE cno = adapter_.make_cno();
  ASSERT_THAT(dat_cno_free(cno), succeeds());
  DAT_EVD_HANDLE evd;
  EXPECT_THAT(dat_cno_wait(cno, 0, &evd), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO));
}

TEST_F(CnoWait, NullOutputIsInvalid) {
  EXPECT_THAT(dat_cno_wait(cno_, 0, nullptr), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
}

// A completion of the adapter, not only a software event, triggers.
TEST(CnoWaitCompletions, ArrivalOfACompletionTriggers) {
  ConnectedPair pair;
  const DAT_CNO_HANDLE cno = pair.server.adapter.make_cno();
  ASSERT_THAT(dat_evd_modify_cno(pair.server.recv_evd, cno), succeeds());
  ASSERT_THAT(pair.server.post_recv(0, 64), succeeds());
  CnoWaiter waiter(cno);
  waiter.await_blocked();
  ASSERT_THAT(pair.client.post_send(0, 64), succeeds());
  ASSERT_THAT(waiter.join(), succeeds());
  EXPECT_EQ(waiter.evd(), pair.server.recv_evd);
  EXPECT_EQ(next_completion(pair.server.recv_evd).status, DAT_DTO_SUCCESS);
}

// The agent hears of a trigger in addition to the waiters; when it ends, it hears null.
struct AgentLog {
  std::atomic<int> calls{0};
  std::atomic<DAT_EVD_HANDLE> last{DAT_HANDLE_NULL};
};

void record(DAT_PVOID instance, DAT_EVD_HANDLE evd) {
  auto* log = static_cast<AgentLog*>(instance);
  log->last.store(evd);
  log->calls.fetch_add(1);
}

TEST(CnoWaitAgent, AgentIsInvokedWhenTriggered) {
  AgentLog log;
  Adapter adapter;
  const DAT_CNO_HANDLE cno = adapter.make_cno({&log, record});
  const DAT_EVD_HANDLE evd = adapter.make_software_evd(8, cno);
  EXPECT_EQ(log.calls.load(), 0);
  post_software_event(evd, 1);
  EXPECT_TRUE(eventually([&] { return log.calls.load() == 1; }));
  EXPECT_EQ(log.last.load(), evd);
}

TEST(CnoWaitAgent, AgentIsToldNullWhenTheAdapterGoes) {
  AgentLog log;
  Adapter adapter;
  const DAT_CNO_HANDLE cno = adapter.make_cno({&log, record});
  adapter.make_software_evd(8, cno);
  log.last.store(&log);
  ASSERT_THAT(dat_ia_close(adapter.handle(), DAT_CLOSE_ABRUPT_FLAG), succeeds());
  adapter.release();
  EXPECT_TRUE(eventually([&] { return log.calls.load() == 1; }));
  EXPECT_EQ(log.last.load(), DAT_HANDLE_NULL);
}

TEST(CnoWaitAgent, AgentIsToldNullWhenTheLastDispatcherGoes) {
  AgentLog log;
  Adapter adapter;
  const DAT_CNO_HANDLE cno = adapter.make_cno({&log, record});
  const DAT_EVD_HANDLE evd = adapter.make_software_evd(8, cno);
  log.last.store(&log);
  ASSERT_THAT(dat_evd_free(evd), succeeds());
  EXPECT_TRUE(eventually([&] { return log.calls.load() == 1; }));
  EXPECT_EQ(log.last.load(), DAT_HANDLE_NULL);
}

}  // namespace
}  // namespace softdat::conformance
