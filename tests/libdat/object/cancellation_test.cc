// SPDX-License-Identifier: BSD-2-Clause
// A thread that is cancelled inside dat_evd_wait or dat_cno_wait ends there, and leaves nothing held.
#include <pthread.h>

#include "tests/libdat/object/waiter.h"

// A sanitizer's own frames cannot be unwound out of.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SOFTDAT_CAN_BE_CANCELLED 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SOFTDAT_CAN_BE_CANCELLED 0
#endif
#endif
#ifndef SOFTDAT_CAN_BE_CANCELLED
#define SOFTDAT_CAN_BE_CANCELLED 1
#endif

namespace softdat::object {
namespace {

constexpr bool kCanBeCancelled = SOFTDAT_CAN_BE_CANCELLED != 0;

struct Victim {
  Handle handle;
  int type;  // of cancellation
  std::atomic<bool> is_ready{false};
};

// As the entry points do (libdat/object/cancellation_shield.h): defer first, then pin.
void* wait_on_evd(void* argument) {
  auto* victim = static_cast<Victim*>(argument);
  pthread_setcanceltype(victim->type, nullptr);
  pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, nullptr);
  victim->is_ready.store(true);
  const auto evd = evd_of(victim->handle);
  Event event;
  std::int32_t nmore = 0;
  for (;;) static_cast<void>(evd->waiting().wait(kTimeoutInfinite, 1, event, nmore));
}

void* wait_on_cno(void* argument) {
  auto* victim = static_cast<Victim*>(argument);
  pthread_setcanceltype(victim->type, nullptr);
  pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, nullptr);
  victim->is_ready.store(true);
  const auto cno = cno_of(victim->handle);
  Handle hint = nullptr;
  for (;;) static_cast<void>(cno->wait(kTimeoutInfinite, hint));
}

constexpr int kTypes[] = {PTHREAD_CANCEL_ASYNCHRONOUS, PTHREAD_CANCEL_DEFERRED};

void cancel(pthread_t thread) {
  void* result = nullptr;
  ASSERT_EQ(pthread_cancel(thread), 0);
  ASSERT_EQ(pthread_join(thread, &result), 0);
  EXPECT_EQ(result, PTHREAD_CANCELED);
}

TEST(Cancellation, WaiterOnADispatcherLeavesItUsable) {
  if (!kCanBeCancelled) GTEST_SKIP() << "not under a sanitizer";
  for (int round = 0; round < 50; ++round) {
    World world;
    const Handle evd = world.make_evd(kSoftwareStream | kDtoStream, 4);
    Victim victim{evd, kTypes[round % 2]};
    pthread_t thread;
    ASSERT_EQ(pthread_create(&thread, nullptr, wait_on_evd, &victim), 0);
    Event event;
    EXPECT_TRUE(eventually([&] { return evd_of(evd)->dequeue(event) == kWaited; }));
    cancel(thread);
    EXPECT_EQ(evd_of(evd)->dequeue(event), kBareEmpty);
    post_software(evd, 1);
    std::int32_t nmore = 0;
    EXPECT_EQ(evd_of(evd)->waiting().wait(0, 1, event, nmore), kOk);
    EXPECT_EQ(EventDispatcher::free(evd_of(evd)), kOk);  // no pin is left behind
  }
}

TEST(Cancellation, WaiterOnACnoLeavesItUsable) {
  if (!kCanBeCancelled) GTEST_SKIP() << "not under a sanitizer";
  for (int round = 0; round < 50; ++round) {
    World world;
    const Handle cno = world.make_cno();
    Victim victim{cno, kTypes[round % 2]};
    pthread_t thread;
    ASSERT_EQ(pthread_create(&thread, nullptr, wait_on_cno, &victim), 0);
    EXPECT_TRUE(eventually([&] { return victim.is_ready.load(); }));
    cancel(thread);
    EXPECT_EQ(ConsumerNotification::free(cno_of(cno)), kOk);  // no waiter and no pin is left behind
  }
}

}  // namespace
}  // namespace softdat::object
