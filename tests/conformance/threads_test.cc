// SPDX-License-Identifier: BSD-2-Clause
// Many threads on the same objects: events are taken exactly once, and creating, using and freeing
// race without harm. Run under ThreadSanitizer this is the proof of the "safe" in the pages.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/conformance/peer.h"

namespace softdat::conformance {
namespace {

void run_in_threads(int count, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(body, i);
  for (std::thread& thread : threads) thread.join();
}

// Collects what several threads took and proves that it is 0 .. count-1, each once.
class Harvest {
 public:
  explicit Harvest(std::size_t count) : taken_(count) {}

  void add(std::uint64_t value) {
    ASSERT_LT(value, taken_.size());
    taken_[value].fetch_add(1);
    total_.fetch_add(1);
  }
  std::size_t total() const { return total_.load(); }
  bool is_complete() const { return total() >= taken_.size(); }
  void expect_each_once() const {
    for (std::size_t i = 0; i < taken_.size(); ++i) EXPECT_EQ(taken_[i].load(), 1) << i;
  }

 private:
  std::vector<std::atomic<int>> taken_;
  std::atomic<std::size_t> total_{0};
};

void expect_valid_refusal(DAT_RETURN result) {
  EXPECT_THAT(result, testing::AnyOf(succeeds(), fails_with(DAT_INVALID_HANDLE), fails_with(DAT_INVALID_STATE)));
}

TEST(Threads, EachSoftwareEventIsDequeuedExactlyOnce) {
  constexpr std::size_t kEvents = 20000;
  Adapter adapter;
  const DAT_EVD_HANDLE evd = adapter.make_software_evd(256);
  Harvest harvest(kEvents);
  run_in_threads(5, [&](int index) {
    if (index == 0) {
      for (std::uintptr_t value = 0; value < kEvents; ++value) {
        const DAT_EVENT event = make_software_event(value);
        while (type_of(dat_evd_post_se(evd, &event)) == DAT_QUEUE_FULL) std::this_thread::yield();
      }
      return;
    }
    while (!harvest.is_complete()) {
      DAT_EVENT event;
      if (dat_evd_dequeue(evd, &event) == DAT_SUCCESS) harvest.add(software_value(event));
    }
  });
  harvest.expect_each_once();
  EXPECT_TRUE(is_quiet(evd));
}

// Waiting and dequeuing mixed: who comes while another waits is refused and comes again.
TEST(Threads, EachEventIsTakenExactlyOnceByWaitersAndDequeuers) {
  constexpr std::size_t kEvents = 4000;
  Adapter adapter;
  const DAT_EVD_HANDLE evd = adapter.make_software_evd(256);
  Harvest harvest(kEvents);
  run_in_threads(5, [&](int index) {
    if (index == 0) {
      for (std::uintptr_t value = 0; value < kEvents; ++value) {
        const DAT_EVENT event = make_software_event(value);
        while (type_of(dat_evd_post_se(evd, &event)) == DAT_QUEUE_FULL) std::this_thread::yield();
      }
      return;
    }
    while (!harvest.is_complete()) {
      DAT_EVENT event;
      DAT_COUNT more;
      const DAT_RETURN result =
          index % 2 == 0 ? dat_evd_wait(evd, 1000, 1, &event, &more) : dat_evd_dequeue(evd, &event);
      if (result == DAT_SUCCESS) harvest.add(software_value(event));
      if (type_of(result) == DAT_INVALID_STATE) std::this_thread::yield();
    }
  });
  harvest.expect_each_once();
}

TEST(Threads, EachCompletionIsDequeuedExactlyOnce) {
  constexpr std::size_t kRequests = 3000;
  constexpr DAT_COUNT kRoom = 1024;
  PeerOptions options;
  options.queue_length = kRoom;
  ConnectedPair pair(options);
  const DAT_RMR_TRIPLET target = pair.server.memory->remote(0, 64);
  Harvest harvest(kRequests);
  run_in_threads(4, [&](int index) {
    if (index == 0) {
      for (std::uint64_t cookie = 0; cookie < kRequests; ++cookie) {
        // Those who dequeue may get no processor for long, and an overflow would break the connection.
        while (cookie - harvest.total() >= kRoom) std::this_thread::yield();
        while (pair.client.post_write(0, 64, target, cookie) != DAT_SUCCESS) std::this_thread::yield();
      }
      return;
    }
    while (!harvest.is_complete())
      if (const auto event = take_event(pair.client.request_evd))
        harvest.add(event->event_data.dto_completion_event_data.user_cookie.as_64);
  });
  harvest.expect_each_once();
}

// Dequeuing under a lock preserves the order of the stream.
TEST(Threads, SerialisedDequeuingKeepsTheOrder) {
  constexpr std::uint64_t kMessages = 1000;
  ConnectedPair pair;
  std::mutex lock;
  std::uint64_t next = 0;
  for (std::uint64_t cookie = 0; cookie < 32; ++cookie) ASSERT_THAT(pair.server.post_recv(0, 64, cookie), succeeds());
  run_in_threads(4, [&](int index) {
    if (index == 0) {
      for (std::uint64_t sent = 0; sent < kMessages; ++sent)
        while (pair.client.post_send(0, 64, 0, DAT_COMPLETION_SUPPRESS_FLAG) != DAT_SUCCESS) std::this_thread::yield();
      return;
    }
    for (bool done = false; !done;) {
      const std::scoped_lock guard(lock);
      done = next == kMessages;
      const auto event = done ? std::nullopt : take_event(pair.server.recv_evd);
      if (!event) continue;
      EXPECT_EQ(event->event_data.dto_completion_event_data.user_cookie.as_64, next);
      ++next;
      if (next + 31 < kMessages) {
        EXPECT_THAT(pair.server.post_recv(0, 64, next + 31), succeeds());
      }
    }
  });
}

TEST(Threads, OnlyOneOfManyWaitersIsLetIn) {
  Adapter adapter;
  const DAT_EVD_HANDLE evd = adapter.make_software_evd(8);
  std::atomic<int> refused{0};
  std::atomic<int> served{0};
  run_in_threads(6, [&](int) {
    DAT_EVENT event;
    DAT_COUNT more;
    const DAT_RETURN result = dat_evd_wait(evd, kPatience, 1, &event, &more);
    if (result == DAT_SUCCESS) served.fetch_add(1);
    if (type_of(result) != DAT_INVALID_STATE) return;
    // The fifth to be refused lets the one inside go.
    if (refused.fetch_add(1) == 4) post_software_event(evd, 1);
  });
  EXPECT_EQ(served.load(), 1);
  EXPECT_EQ(refused.load(), 5);
}

// Each thread makes, uses and frees its own objects on one adapter.
TEST(Threads, ObjectsAreMadeUsedAndFreedSideBySide) {
  Adapter adapter;
  run_in_threads(4, [&](int) {
    for (int round = 0; round < 100; ++round) {
      const DAT_PZ_HANDLE pz = adapter.make_pz();
      const DAT_CNO_HANDLE cno = adapter.make_cno();
      const DAT_EVD_HANDLE evd = adapter.make_evd(
          DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG | DAT_EVD_CR_FLAG, 8, cno);
      DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
      ASSERT_THAT(dat_ep_create(adapter.handle(), pz, evd, evd, evd, nullptr, &ep), succeeds());
      const DAT_PSP_HANDLE psp = adapter.make_psp(unused_qualifier(), evd);
      {
        Memory memory(adapter.handle(), pz, 4096);
        DAT_LMR_TRIPLET segment = memory.local(0, 64);
        ASSERT_THAT(dat_ep_post_recv(ep, 1, &segment, make_cookie(1), DAT_COMPLETION_DEFAULT_FLAG), succeeds());
        ASSERT_THAT(dat_psp_free(psp), succeeds());
        ASSERT_THAT(dat_ep_free(ep), succeeds());
      }
      ASSERT_THAT(dat_pz_free(pz), succeeds());
      ASSERT_THAT(dat_evd_free(evd), succeeds());
      ASSERT_THAT(dat_cno_free(cno), succeeds());
    }
  });
  EXPECT_THAT(dat_ia_close(adapter.handle(), DAT_CLOSE_GRACEFUL_FLAG), succeeds());
  adapter.release();
}

// One thread frees and makes anew, others go on using the handles they saw: each call succeeds or
// says that the handle is invalid, nothing else.
TEST(Threads, HandlesThatGoStaleUnderwayAreRefused) {
  Peer peer(kServerName);
  std::atomic<DAT_EP_HANDLE> ep{DAT_HANDLE_NULL};
  std::atomic<DAT_EVD_HANDLE> evd{DAT_HANDLE_NULL};
  std::atomic<DAT_PZ_HANDLE> pz{DAT_HANDLE_NULL};
  std::atomic<bool> done{false};
  run_in_threads(4, [&](int index) {
    if (index == 0) {
      for (int round = 0; round < 300; ++round) {
        evd.store(peer.adapter.make_evd(DAT_EVD_DTO_FLAG | DAT_EVD_SOFTWARE_FLAG, 8));
        pz.store(peer.adapter.make_pz());
        DAT_EP_HANDLE made = DAT_HANDLE_NULL;
        require(
            dat_ep_create(peer.adapter.handle(), pz.load(), evd.load(), evd.load(), peer.connect_evd, nullptr, &made),
            "dat_ep_create");
        ep.store(made);
        require(dat_ep_free(made), "dat_ep_free");
        require(dat_pz_free(pz.load()), "dat_pz_free");
        require(dat_evd_free(evd.load()), "dat_evd_free");
      }
      done.store(true);
      return;
    }
    while (!done.load()) {
      DAT_EP_PARAM ep_param;
      expect_valid_refusal(dat_ep_query(ep.load(), DAT_EP_FIELD_ALL, &ep_param));
      const DAT_RETURN posted = dat_ep_post_recv(ep.load(), 0, nullptr, make_cookie(1), DAT_COMPLETION_DEFAULT_FLAG);
      // Nobody takes these receives, so the queue may be full.
      if (type_of(posted) != DAT_INSUFFICIENT_RESOURCES) expect_valid_refusal(posted);
      DAT_EVENT event;
      const DAT_RETURN result = dat_evd_dequeue(evd.load(), &event);
      EXPECT_THAT(result, testing::AnyOf(is_empty_queue(), succeeds(), fails_with(DAT_INVALID_HANDLE)));
      DAT_PZ_PARAM pz_param;
      expect_valid_refusal(dat_pz_query(pz.load(), DAT_PZ_FIELD_ALL, &pz_param));
      DAT_HANDLE_TYPE type;
      expect_valid_refusal(dat_get_handle_type(ep.load(), &type));
    }
  });
}

TEST(Threads, AdaptersAreOpenedAndClosedSideBySide) {
  run_in_threads(4, [](int index) {
    for (int round = 0; round < 20; ++round) {
      Adapter adapter(index % 2 == 0 ? kServerName : kClientName);
      post_software_event(adapter.make_software_evd(), 1);
    }
  });
}

TEST(Threads, ConnectionsWorkSideBySide) {
  run_in_threads(4, [](int) {
    ConnectedPair pair;
    for (int round = 0; round < 25; ++round) expect_conversation(pair.server, pair.client);
  });
}

// Sends race with a disconnect: each posted request completes once, with success or flushed.
TEST(Threads, PostingRacesWithADisconnect) {
  for (int round = 0; round < 10; ++round) {
    PeerOptions options;
    options.queue_length = 256;
    ConnectedPair pair(options);
    const DAT_RMR_TRIPLET target = pair.server.memory->remote(0, 64);
    std::atomic<int> posted{0};
    run_in_threads(3, [&](int index) {
      if (index == 0) {
        while (posted.load() == 0) std::this_thread::yield();
        EXPECT_THAT(dat_ep_disconnect(pair.client.ep, DAT_CLOSE_ABRUPT_FLAG), succeeds());
        return;
      }
      for (int i = 0; i < 100; ++i)
        if (pair.client.post_write(0, 64, target) == DAT_SUCCESS) posted.fetch_add(1);
    });
    for (int i = 0; i < posted.load(); ++i)
      EXPECT_THAT(next_completion(pair.client.request_evd).status,
                  testing::AnyOf(DAT_DTO_SUCCESS, DAT_DTO_ERR_FLUSHED));
    EXPECT_TRUE(is_quiet(pair.client.request_evd));
  }
}

}  // namespace
}  // namespace softdat::conformance
