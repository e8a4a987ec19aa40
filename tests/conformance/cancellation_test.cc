// SPDX-License-Identifier: BSD-2-Clause
// A thread that somebody wants to end does not end in the middle of a call: no call but a wait is a cancellation point,
// and nothing stays held.
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/conformance/peer.h"

namespace softdat::conformance {
namespace {

struct Conversation {
  ConnectedPair pair;
  bool is_over = false;
};

// Whatever sleeps, dat_evd_wait included, is a cancellation point.
DAT_EVENT polled_event(DAT_EVD_HANDLE evd) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(kPatience);
  DAT_EVENT event{};
  while (dat_evd_dequeue(evd, &event) != DAT_SUCCESS && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  return event;
}

void* converse_to_the_end(void* argument) {
  auto& conversation = *static_cast<Conversation*>(argument);
  Peer& server = conversation.pair.server;
  Peer& client = conversation.pair.client;
  EXPECT_EQ(pthread_cancel(pthread_self()), 0);  // due at the next cancellation point
  client.memory->fill(0, 64, 3);
  EXPECT_THAT(server.post_recv(0, 64), succeeds());
  EXPECT_THAT(client.post_send(0, 64), succeeds());
  EXPECT_EQ(polled_event(client.request_evd).event_number, DAT_DTO_COMPLETION_EVENT);
  EXPECT_EQ(polled_event(server.recv_evd).event_number, DAT_DTO_COMPLETION_EVENT);
  EXPECT_TRUE(server.memory->holds(0, 64, 3));
  EXPECT_THAT(dat_ep_disconnect(client.ep, DAT_CLOSE_ABRUPT_FLAG), succeeds());
  EXPECT_EQ(polled_event(client.connect_evd).event_number, DAT_CONNECTION_EVENT_DISCONNECTED);
  EXPECT_EQ(polled_event(server.connect_evd).event_number, DAT_CONNECTION_EVENT_DISCONNECTED);
  server.renew_endpoint();
  client.renew_endpoint();
  conversation.is_over = true;
  pthread_testcancel();
  return nullptr;
}

TEST(Cancellation, OfAThreadWaitsUntilItsCallsAreOver) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's own frames cannot be unwound out of";
#endif
  Conversation conversation;
  pthread_t thread;
  ASSERT_EQ(pthread_create(&thread, nullptr, converse_to_the_end, &conversation), 0);
  void* result = nullptr;
  ASSERT_EQ(pthread_join(thread, &result), 0);
  EXPECT_EQ(result, PTHREAD_CANCELED);
  ASSERT_TRUE(conversation.is_over);
  establish(conversation.pair.server, conversation.pair.client);
  expect_conversation(conversation.pair.server, conversation.pair.client);
}

struct Sleeper {
  DAT_EVD_HANDLE evd;
  DAT_CNO_HANDLE cno;  // waited for instead, unless null
  int type;            // of cancellation
};

void* sleep_for_ever(void* argument) {
  const Sleeper& sleeper = *static_cast<const Sleeper*>(argument);
  pthread_setcanceltype(sleeper.type, nullptr);
  for (;;) {
    DAT_EVENT event;
    DAT_COUNT more;
    DAT_EVD_HANDLE evd;
    if (sleeper.cno != DAT_HANDLE_NULL)
      dat_cno_wait(sleeper.cno, DAT_TIMEOUT_INFINITE, &evd);
    else
      dat_evd_wait(sleeper.evd, DAT_TIMEOUT_INFINITE, 1, &event, &more);
  }
}

// Where nothing comes, and on a connection over which something may.
TEST(Cancellation, EndsAThreadThatWaits) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's own frames cannot be unwound out of";
#endif
  ConnectedPair pair;
  const DAT_CNO_HANDLE cno = pair.server.adapter.make_cno();
  for (const int type : {PTHREAD_CANCEL_DEFERRED, PTHREAD_CANCEL_ASYNCHRONOUS}) {
    for (int round = 0; round < 20; ++round) {
      Sleeper sleeper{pair.server.recv_evd, round % 2 == 0 ? DAT_CNO_HANDLE{DAT_HANDLE_NULL} : cno, type};
      pthread_t thread;
      ASSERT_EQ(pthread_create(&thread, nullptr, sleep_for_ever, &sleeper), 0);
      if (round % 4 == 0) {
        DAT_EVENT event;
        EXPECT_TRUE(eventually([&] { return type_of(dat_evd_dequeue(sleeper.evd, &event)) == DAT_INVALID_STATE; }));
      }
      void* result = nullptr;
      ASSERT_EQ(pthread_cancel(thread), 0);
      ASSERT_EQ(pthread_join(thread, &result), 0);
      EXPECT_EQ(result, PTHREAD_CANCELED);
      expect_conversation(pair.server, pair.client);
    }
  }
  EXPECT_THAT(dat_cno_free(cno), succeeds());  // no waiter is left behind
}

struct Poller {
  DAT_EVD_HANDLE evd;
  DAT_CNO_HANDLE cno;
  std::atomic<int> waits{0};
};

void* wait_without_patience(void* argument) {
  auto& poller = *static_cast<Poller*>(argument);
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
  for (;;) {
    DAT_EVENT event;
    DAT_COUNT more;
    DAT_EVD_HANDLE evd;
    if (poller.cno != DAT_HANDLE_NULL)
      dat_cno_wait(poller.cno, 0, &evd);
    else
      dat_evd_wait(poller.evd, 0, 1, &event, &more);
    ++poller.waits;
  }
}

// The cancellation comes while the call is on its way in or out, and not in its sleep.
TEST(Cancellation, EndsAThreadWhoseWaitsEndByThemselves) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's own frames cannot be unwound out of";
#endif
  ConnectedPair pair;
  const DAT_CNO_HANDLE cno = pair.server.adapter.make_cno();
  for (int round = 0; round < 100; ++round) {
    Poller poller{pair.server.recv_evd, round % 2 == 0 ? DAT_CNO_HANDLE{DAT_HANDLE_NULL} : cno};
    pthread_t thread;
    ASSERT_EQ(pthread_create(&thread, nullptr, wait_without_patience, &poller), 0);
    EXPECT_TRUE(eventually([&] { return poller.waits > round; }));
    void* result = nullptr;
    ASSERT_EQ(pthread_cancel(thread), 0);
    ASSERT_EQ(pthread_join(thread, &result), 0);
    EXPECT_EQ(result, PTHREAD_CANCELED);
  }
  expect_conversation(pair.server, pair.client);
  EXPECT_THAT(dat_cno_free(cno), succeeds());
}

}  // namespace
}  // namespace softdat::conformance
