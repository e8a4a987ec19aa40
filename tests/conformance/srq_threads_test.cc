// SPDX-License-Identifier: BSD-2-Clause
// Shared receive queues in many hands.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/conformance/lacks.h"
#include "tests/conformance/shared_server.h"

namespace softdat::conformance {
namespace {

testing::Matcher<DAT_RETURN> is_sound() {
  return testing::AnyOf(succeeds(), fails_with(DAT_INVALID_HANDLE), fails_with(DAT_INVALID_STATE),
                        fails_with(DAT_INSUFFICIENT_RESOURCES), fails_with(DAT_INVALID_PARAMETER));
}

TEST(SrqThreads, QueuesAreMadeUsedAndFreedAtOnce) {
  if (const Lack lack = lack_of_shared_resizing(); !lack.empty()) GTEST_SKIP() << lack;
  SharedServer server;
  const DAT_IA_HANDLE ia = server.peer.adapter.handle();
  std::atomic<DAT_SRQ_HANDLE> srq{server.srq};
  std::atomic<DAT_EP_HANDLE> ep{server.peer.ep};
  std::atomic<bool> is_done{false};
  std::vector<std::thread> users;
  for (int i = 0; i < 3; ++i) {
    users.emplace_back([&] {
      while (!is_done.load()) {
        DAT_SRQ_PARAM param{};
        DAT_COUNT count = 0;
        EXPECT_THAT(dat_srq_post_recv(srq.load(), 0, nullptr, make_cookie(1)), is_sound());
        EXPECT_THAT(dat_srq_query(srq.load(), DAT_SRQ_FIELD_ALL, &param), is_sound());
        EXPECT_THAT(dat_srq_set_lw(srq.load(), 2), is_sound());
        EXPECT_THAT(dat_srq_resize(srq.load(), 12), is_sound());
        EXPECT_THAT(dat_ep_recv_query(ep.load(), &count, &count), is_sound());
        EXPECT_THAT(dat_ep_set_watermark(ep.load(), 1, DAT_WATERMARK_INFINITE), is_sound());
        drain(server.peer.adapter.async_evd());
      }
    });
  }
  for (int round = 0; round < 100; ++round) {
    DAT_SRQ_ATTR attributes = srq_attributes(8);
    DAT_SRQ_HANDLE made = DAT_HANDLE_NULL;
    require(dat_srq_create(ia, server.peer.pz, &attributes, &made), "dat_srq_create");
    srq.store(made);
    server.srq = made;
    const DAT_EP_HANDLE user = server.make_endpoint();
    ep.store(user);
    EXPECT_THAT(dat_srq_free(made), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_SRQ_IN_USE));
    require(dat_ep_free(user), "dat_ep_free");
    require(dat_srq_free(made), "dat_srq_free");
  }
  is_done.store(true);
  for (std::thread& user : users) user.join();
}

TEST(SrqThreads, ManyPostersAndReapersServeManyConnections) {
  if (const Lack lack = lack_of_waiting_sends(); !lack.empty()) GTEST_SKIP() << lack;
  constexpr int kMessages = 200;
  constexpr std::size_t kClients = 3;
  SharedServer server(16);
  for (std::size_t i = 0; i < kClients; ++i) server.connect_client();
  std::vector<std::thread> threads;
  for (std::size_t c = 0; c < kClients; ++c) {
    threads.emplace_back([&, c] {
      for (int i = 0; i < kMessages; ++i) {
        server.send(c);
        EXPECT_EQ(next_completion(server.clients[c]->request_evd).status, DAT_DTO_SUCCESS);
      }
    });
  }
  std::atomic<int> received{0};
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (received.load() < kMessages * static_cast<int>(kClients)) {
        EXPECT_THAT(server.post_empty(), testing::AnyOf(succeeds(), fails_with(DAT_INSUFFICIENT_RESOURCES)));
        if (take_event(server.peer.recv_evd)) received.fetch_add(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(received.load(), kMessages * static_cast<int>(kClients));
}

}  // namespace
}  // namespace softdat::conformance
