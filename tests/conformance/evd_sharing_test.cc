// SPDX-License-Identifier: BSD-2-Clause
// One dispatcher for many: streams and endpoints that share it, and a resize while it is in use.
#include <gtest/gtest.h>

#include <atomic>
#include <list>
#include <map>
#include <thread>

#include "tests/conformance/lacks.h"
#include "tests/conformance/peer.h"
#include "tests/conformance/waiter.h"

namespace softdat::conformance {
namespace {

// Resizes a dispatcher up and down for as long as it lives.
class Resizer {
 public:
  explicit Resizer(DAT_EVD_HANDLE evd)
      : thread_([this, evd] {
          for (DAT_COUNT length = 64; !is_over_.load(); length = length == 64 ? 256 : 64)
            EXPECT_THAT(dat_evd_resize(evd, length), succeeds());
        }) {}
  ~Resizer() {
    is_over_.store(true);
    thread_.join();
  }
  Resizer(const Resizer&) = delete;
  Resizer& operator=(const Resizer&) = delete;

 private:
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

constexpr std::uint64_t kRounds = 400;

// A notification leads to its event, and each event to a notification, whatever happens to the queue meanwhile.
TEST(EvdResize, LosesNoNotificationOfACno) {
  if (const Lack lack = lack_of_resizing(); !lack.empty()) GTEST_SKIP() << lack;
  ConnectedPair pair;
  const DAT_EVD_HANDLE evd = pair.server.recv_evd;
  const DAT_CNO_HANDLE cno = pair.server.adapter.make_cno();
  ASSERT_THAT(dat_evd_modify_cno(evd, cno), succeeds());
  const Resizer resizer(evd);
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    ASSERT_THAT(pair.server.post_recv(0, 64, round), succeeds());
    ASSERT_THAT(pair.client.post_send(0, 64), succeeds());
    std::optional<DAT_EVENT> event;
    while (!event) {
      DAT_EVD_HANDLE triggered = DAT_HANDLE_NULL;
      ASSERT_THAT(dat_cno_wait(cno, kPatience, &triggered), succeeds()) << round;
      event = take_event(evd);
    }
    EXPECT_EQ(event->event_data.dto_completion_event_data.user_cookie.as_64, round);
    next_completion(pair.client.request_evd);
  }
}

TEST(EvdResize, LosesNoWaiter) {
  if (const Lack lack = lack_of_resizing(); !lack.empty()) GTEST_SKIP() << lack;
  ConnectedPair pair;
  const Resizer resizer(pair.server.recv_evd);
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    ASSERT_THAT(pair.server.post_recv(0, 64, round), succeeds());
    ASSERT_THAT(pair.client.post_send(0, 64), succeeds());
    EXPECT_EQ(next_completion(pair.server.recv_evd).user_cookie.as_64, round);
    next_completion(pair.client.request_evd);
  }
}

// "Nothing is queued" is not said of events that are being moved.
TEST(EvdResize, HidesNoEventFromWhoDequeues) {
  if (const Lack lack = lack_of_resizing(); !lack.empty()) GTEST_SKIP() << lack;
  ConnectedPair pair;
  constexpr std::uint64_t kMessages = 32;
  for (std::uint64_t round = 0; round < kRounds / kMessages; ++round) {
    for (std::uint64_t i = 0; i < kMessages; ++i) ASSERT_THAT(pair.server.post_recv(0, 64, i), succeeds());
    for (std::uint64_t i = 0; i < kMessages; ++i) {
      ASSERT_TRUE(
          eventually([&] { return pair.client.post_send(0, 64, 0, DAT_COMPLETION_SUPPRESS_FLAG) == DAT_SUCCESS; }));
    }
    EvdWaiter(pair.server.recv_evd, kPatience, kMessages).join();  // takes the first of them
    const Resizer resizer(pair.server.recv_evd);
    for (std::uint64_t i = 1; i < kMessages; ++i) {
      const auto event = take_event(pair.server.recv_evd);
      ASSERT_TRUE(event.has_value()) << i;
      EXPECT_EQ(event->event_data.dto_completion_event_data.user_cookie.as_64, i);
    }
  }
}

// A queue that could not hold what somebody waits for would never wake him.
TEST(EvdResize, IsRefusedBelowTheThresholdOfAWaiter) {
  Adapter adapter(kServerName);
  const DAT_EVD_HANDLE evd = adapter.make_evd(DAT_EVD_SOFTWARE_FLAG, 8);
  EvdWaiter waiter(evd, kPatience, 4);
  waiter.await_blocked();
  EXPECT_THAT(dat_evd_resize(evd, 3), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_WAITER));
  EXPECT_THAT(dat_evd_resize(evd, 4), succeeds());
  for (std::uintptr_t value = 1; value <= 4; ++value) post_software_event(evd, value);
  EXPECT_THAT(waiter.join(), succeeds());
  EXPECT_EQ(waiter.more(), 3);
  drain(evd);
  EXPECT_THAT(dat_evd_resize(evd, 1), succeeds());
}

// Whoever of the two comes first: the waiter gets what he waits for, or is told at once that he cannot.
TEST(EvdResize, AndAWaiterNeverMissEachOther) {
  Adapter adapter(kServerName);
  const DAT_EVD_HANDLE evd = adapter.make_evd(DAT_EVD_SOFTWARE_FLAG, 4);
  for (int round = 0; round < 200; ++round) {
    EvdWaiter waiter(evd, kPatience, 4);
    const DAT_RETURN resized = dat_evd_resize(evd, 3);
    if (resized == DAT_SUCCESS) {
      EXPECT_THAT(waiter.join(), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
    } else {
      EXPECT_THAT(resized, fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_WAITER));
      for (std::uintptr_t value = 1; value <= 4; ++value) post_software_event(evd, value);
      EXPECT_THAT(waiter.join(), succeeds());
    }
    drain(evd);
    ASSERT_THAT(dat_evd_resize(evd, 4), succeeds());
  }
}

TEST(EvdResize, AnOverflowAfterwardsIsToldAgain) {
  Peer peer(kServerName);
  const DAT_EVD_HANDLE evd = peer.adapter.make_evd(DAT_EVD_CONNECTION_FLAG, 1);
  const auto overflow = [&] {
    std::list<DAT_EP_HANDLE> eps;
    for (int i = 0; i < 3; ++i) {
      DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
      require(dat_ep_create(peer.adapter.handle(), peer.pz, peer.recv_evd, peer.request_evd, evd, nullptr, &ep),
              "dat_ep_create");
      require(dat_ep_connect(ep, peer.adapter.address(), unused_qualifier(), kPatience, 0, nullptr, DAT_QOS_BEST_EFFORT,
                             DAT_CONNECT_DEFAULT_FLAG),
              "dat_ep_connect");
      eps.push_back(ep);
    }
    const DAT_EVENT event = next_event(peer.adapter.async_evd(), DAT_ASYNC_ERROR_EVD_OVERFLOW);
    EXPECT_EQ(event.event_data.asynch_error_event_data.dat_handle, evd);
    for (const DAT_EP_HANDLE ep : eps) require(dat_ep_free(ep), "dat_ep_free");
    EXPECT_TRUE(is_quiet(peer.adapter.async_evd()));
  };
  overflow();
  drain(evd);
  ASSERT_THAT(dat_evd_resize(evd, 2), succeeds());
  overflow();
}

// Receives, requests, connection requests, connection events and software events of four connections, all on one.
TEST(EvdSharing, OneDispatcherServesManyEndpointsAndStreams) {
  if (const Lack lack = lack_of_waiting_sends(); !lack.empty()) GTEST_SKIP() << lack;
  constexpr int kConnections = 4;
  constexpr int kFlags = DAT_EVD_SOFTWARE_FLAG | DAT_EVD_CR_FLAG | DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG;
  Peer server(kServerName);
  const DAT_EVD_HANDLE evd = server.adapter.make_evd(kFlags, 256);
  const DAT_CONN_QUAL qualifier = unused_qualifier();
  server.adapter.make_psp(qualifier, evd);
  std::list<Peer> clients;
  std::map<DAT_EP_HANDLE, int> established;
  for (int i = 0; i < kConnections; ++i) {
    Peer& client = clients.emplace_back(kClientName);
    require(client.connect(server, qualifier), "dat_ep_connect");
    const DAT_EVENT request = next_event(evd, DAT_CONNECTION_REQUEST_EVENT);
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    require(dat_ep_create(server.adapter.handle(), server.pz, evd, evd, evd, nullptr, &ep), "dat_ep_create");
    require(dat_cr_accept(request.event_data.cr_arrival_event_data.cr_handle, ep, 0, nullptr), "dat_cr_accept");
    const DAT_EVENT event = next_event(evd, DAT_CONNECTION_EVENT_ESTABLISHED);
    EXPECT_EQ(event.event_data.connect_event_data.ep_handle, ep);
    next_event(client.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
    established[ep] = i;
  }
  for (const auto& [ep, number] : established) {
    DAT_LMR_TRIPLET segment = server.memory->local(0, 64);
    const auto cookie = static_cast<std::uint64_t>(number);
    ASSERT_THAT(dat_ep_post_recv(ep, 1, &segment, make_cookie(cookie), DAT_COMPLETION_DEFAULT_FLAG), succeeds());
    ASSERT_THAT(dat_ep_post_recv(ep, 1, &segment, make_cookie(cookie), DAT_COMPLETION_DEFAULT_FLAG), succeeds());
    ASSERT_THAT(dat_ep_post_send(ep, 0, nullptr, make_cookie(100 + cookie), DAT_COMPLETION_DEFAULT_FLAG), succeeds());
  }
  for (Peer& client : clients) {
    ASSERT_THAT(client.post_recv(0, 64), succeeds());
    ASSERT_THAT(client.post_send(0, 64), succeeds());
  }
  for (std::uintptr_t value = 0; value < 4; ++value) post_software_event(evd, value);
  std::map<std::pair<DAT_EP_HANDLE, std::uint64_t>, int> completions;
  std::uintptr_t software = 0;
  for (int i = 0; i < 2 * kConnections + 4; ++i) {
    const DAT_EVENT event = next_event(evd);
    EXPECT_EQ(event.evd_handle, evd);
    if (event.event_number == DAT_SOFTWARE_EVENT) {
      EXPECT_EQ(software_value(event), software++);
      continue;
    }
    ASSERT_EQ(event.event_number, DAT_DTO_COMPLETION_EVENT);
    const DAT_DTO_COMPLETION_EVENT_DATA& done = event.event_data.dto_completion_event_data;
    EXPECT_EQ(done.status, DAT_DTO_SUCCESS);
    ++completions[{done.ep_handle, done.user_cookie.as_64}];
  }
  EXPECT_EQ(software, 4u);
  for (const auto& [ep, number] : established) {
    EXPECT_EQ((completions[{ep, static_cast<std::uint64_t>(number)}]), 1);
    EXPECT_EQ((completions[{ep, 100u + static_cast<std::uint64_t>(number)}]), 1);
  }
  EXPECT_TRUE(is_quiet(evd));
}

}  // namespace
}  // namespace softdat::conformance
