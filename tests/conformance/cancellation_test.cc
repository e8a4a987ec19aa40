// SPDX-License-Identifier: BSD-2-Clause
// A thread that somebody wants to end does not end in the middle of a call: no call but a wait is a cancellation point,
// and nothing stays held.
#include <gtest/gtest.h>
#include <pthread.h>

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

}  // namespace
}  // namespace softdat::conformance
