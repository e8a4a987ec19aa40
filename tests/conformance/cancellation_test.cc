// SPDX-License-Identifier: BSD-2-Clause
// A thread that somebody wants to end does not end in the middle of a call: no call but a wait is a cancellation point,
// and nothing stays held.
#include <gtest/gtest.h>
#include <pthread.h>

#include "tests/conformance/peer.h"

namespace softdat::conformance {
namespace {

struct Conversation {
  ConnectedPair pair;
  bool is_over = false;
};

void* converse_to_the_end(void* argument) {
  auto& conversation = *static_cast<Conversation*>(argument);
  ConnectedPair& pair = conversation.pair;
  EXPECT_EQ(pthread_cancel(pthread_self()), 0);  // due at the next cancellation point
  expect_conversation(pair.server, pair.client);
  EXPECT_THAT(dat_ep_disconnect(pair.client.ep, DAT_CLOSE_ABRUPT_FLAG), succeeds());
  EXPECT_EQ(next_event(pair.client.connect_evd).event_number, DAT_CONNECTION_EVENT_DISCONNECTED);
  EXPECT_EQ(next_event(pair.server.connect_evd).event_number, DAT_CONNECTION_EVENT_DISCONNECTED);
  pair.server.renew_endpoint();
  pair.client.renew_endpoint();
  establish(pair.server, pair.client);
  expect_conversation(pair.server, pair.client);
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
  expect_conversation(conversation.pair.server, conversation.pair.client);
}

}  // namespace
}  // namespace softdat::conformance
