// SPDX-License-Identifier: BSD-2-Clause
// Many threads on one live NIC.
#include <array>
#include <thread>

#include "tests/simnic/live.h"

namespace softdat::simnic::testing {
namespace {

class ThreadsTest : public LiveTest {};

TEST_F(ThreadsTest, ATargetThatSleepsOutsideTheLibraryAnswers) {
  const auto cq = expect_ok(host_.nic().create_cq(64, completions_));
  LivePair pair(side(*cq), side(*cq), acceptor_, kService);
  Memory local(host_, 16), remote(host_, bytes("0123456789abcdef"));
  const Segments segments{local.all()};
  expect_ok(pair.active().post_send({.wr_id = 5,
                                     .opcode = hca::SendOpcode::kRead,
                                     .flags = hca::kSignaled,
                                     .rkey = remote.key(),
                                     .remote_address = remote.address(),
                                     .local = segments}));
  // Nobody calls progress(): this only looks.
  hca::Completion completion{};
  ASSERT_TRUE(await([&] { return cq->poll({&completion, 1}) == 1; }));
  EXPECT_EQ(completion.wr_id, 5u);
  EXPECT_EQ(local.text(16), "0123456789abcdef");
}

TEST_F(ThreadsTest, ASleeperOnTheQueueIsWokenByItsCompletion) {
  const auto cq = expect_ok(host_.nic().create_cq(64, completions_));
  LivePair pair(side(*cq), side(*cq), acceptor_, kService);
  for (int round = 0; round < 50; ++round) {
    const bool by_itself = round % 2 == 0;
    expect_ok(pair.passive().post_recv({.wr_id = 1, .local = {}}));
    std::thread sender([&] {
      hca::SendRequest request;
      request.wr_id = 2;
      expect_ok(pair.active().post_send(request));  // unsignaled
    });
    hca::Completion completion{};
    while (cq->poll({&completion, 1}) == 0) {
      const auto ticket = cq->event_count().prepare();
      if (cq->size() > 0) {
        cq->event_count().cancel();
      } else if (by_itself) {
        cq->event_count().wait(ticket, base::kNever);
      } else {
        host_.nic().sleep(cq->event_count(), ticket, base::kNever);
      }
    }
    EXPECT_EQ(completion.opcode, CompletionOpcode::kRecv);
    sender.join();
    ASSERT_TRUE(await([&] { return pair.active().sends_outstanding() == 0; }));
  }
}

TEST_F(ThreadsTest, EveryRequestOfEveryThreadCompletesOnceWhoeverPolls) {
  constexpr int kPairs = 4, kPollers = 3;
  constexpr std::uint64_t kMessages = 1500;
  // For all completions: nothing keeps the posters from being done before the pollers get a processor.
  const auto cq = expect_ok(host_.nic().create_cq(2 * kPairs * kMessages, completions_));
  std::vector<std::unique_ptr<LivePair>> pairs;
  for (int i = 0; i < kPairs; ++i) {
    pairs.push_back(connect(*cq));
  }
  std::array<std::array<std::atomic<std::uint8_t>, kMessages>, kPairs> sent{}, received{};
  std::atomic<std::uint64_t> completed{0};
  std::mutex polling;  // calls of poll() exclude each other
  const auto poll = [&](bool progresses) {
    std::array<hca::Completion, 8> found;
    while (completed.load() < 2 * kPairs * kMessages) {
      if (progresses) host_.nic().progress();
      const std::size_t count = poll_under(polling, *cq, found);
      for (std::size_t i = 0; i < count; ++i) {
        EXPECT_EQ(found[i].status, CompletionStatus::kSuccess);
        auto& seen = found[i].opcode == CompletionOpcode::kSend ? sent : received;
        seen[found[i].wr_id >> 32][found[i].wr_id & 0xffff'ffff].fetch_add(1);
      }
      completed.fetch_add(count);
      if (count == 0) std::this_thread::yield();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kPollers; ++i) threads.emplace_back(poll, i > 0);
    for (std::uint64_t p = 0; p < kPairs; ++p) {
      LivePair& pair = *pairs[p];
      threads.emplace_back([&pair, p] {
        for (std::uint64_t i = 0; i < kMessages; ++i) {
          while (!pair.active().post_send({.wr_id = p << 32 | i, .flags = hca::kSignaled, .local = {}})) {
            std::this_thread::yield();
          }
        }
      });
      threads.emplace_back([&pair, p] {
        for (std::uint64_t i = 0; i < kMessages; ++i) {
          while (!pair.passive().post_recv({.wr_id = p << 32 | i, .local = {}})) std::this_thread::yield();
        }
      });
    }
  }
  for (int p = 0; p < kPairs; ++p) {
    for (std::uint64_t i = 0; i < kMessages; ++i) {
      ASSERT_EQ(sent[p][i].load(), 1) << p << " " << i;
      ASSERT_EQ(received[p][i].load(), 1) << p << " " << i;
    }
  }
  EXPECT_EQ(completions_.overflows.load(), 0);
}

TEST_F(ThreadsTest, AnArmedQueueCallsItsSinkAndMayBeArmedFromThere) {
  struct Rearming final : hca::CompletionSink {
    void on_completion() override {
      calls.fetch_add(1);
      queue.load()->arm(false);
    }
    void on_overflow() override {}
    std::atomic<hca::CompletionQueue*> queue{nullptr};
    std::atomic<int> calls{0};
  } sink;
  const auto cq = expect_ok(host_.nic().create_cq(1024, sink));
  sink.queue.store(cq.get());
  cq->arm(false);
  LivePair pair(side(*cq), side(*cq), acceptor_, kService);
  for (int i = 1; i <= 100; ++i) {
    expect_ok(pair.passive().post_recv({.local = {}}));
    expect_ok(pair.active().post_send({.local = {}}));
    ASSERT_TRUE(await([&] { return sink.calls.load() == i; }));
  }
}

TEST_F(ThreadsTest, MemoryIsOursAgainWhenItsRegionIsGone) {
  const auto cq = expect_ok(host_.nic().create_cq(1024, completions_));
  for (int round = 0; round < 20; ++round) {
    LivePair pair(side(*cq), side(*cq), acceptor_, kService);
    Memory from(host_, 1u << 16);
    auto to = std::make_unique<Memory>(host_, 1u << 16);
    const Segments segments{from.all()};
    for (int i = 0; i < 8; ++i) {
      expect_ok(pair.active().post_send(
          {.opcode = hca::SendOpcode::kWrite, .rkey = to->key(), .remote_address = to->address(), .local = segments}));
    }
    // A write into memory freed by now is for the sanitizers to find.
    to.reset();
    ASSERT_TRUE(await([&] { return pair.active().sends_outstanding() == 0; }));
  }
}

TEST_F(ThreadsTest, ConnectionsComeAndGoUnderFire) {
  const auto cq = expect_ok(host_.nic().create_cq(65536, completions_));
  std::atomic<bool> is_over{false};
  std::jthread poller([&] {
    std::array<hca::Completion, 16> found;
    while (!is_over.load()) {
      host_.nic().progress();
      cq->poll(found);
    }
  });
  for (int round = 0; round < 40; ++round) {
    LivePair pair(side(*cq), side(*cq), acceptor_, kService);
    std::jthread poster([&] {
      for (int i = 0; i < 50; ++i) {
        [[maybe_unused]] const auto sent = pair.active().post_send({.flags = hca::kSignaled, .local = {}});
        [[maybe_unused]] const auto posted = pair.passive().post_recv({.local = {}});
      }
    });
    switch (round % 4) {
      case 0:
        expect_ok(pair.active().disconnect(false));
        break;
      case 1:
        expect_ok(pair.passive().disconnect(false));
        break;
      case 2:
        expect_ok(pair.active().disconnect(false));
        expect_ok(pair.passive().disconnect(false));
        break;
      case 3:
        poster.join();
        pair.destroy_active();
        break;
    }
    if (poster.joinable()) poster.join();
    ASSERT_TRUE(await([&] { return pair.passive_sink().count(ConnectionEventType::kDisconnected) == 1; }));
    EXPECT_EQ(pair.passive_sink().count(ConnectionEventType::kBroken), 0);
  }
  is_over.store(true);
}

TEST_F(ThreadsTest, AQueueMayBeResizedWhileItIsPolledAndFed) {
  constexpr std::uint64_t kMessages = 3000;
  const auto cq = expect_ok(host_.nic().create_cq(256, completions_));
  LivePair pair(side(*cq), side(*cq), acceptor_, kService);
  std::atomic<std::uint64_t> completed{0};
  std::vector<std::atomic<std::uint8_t>> seen(kMessages);
  std::mutex consuming;  // polls and resizes exclude each other
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 2; ++i) {
      threads.emplace_back([&] {
        hca::Completion found{};
        while (completed.load() < kMessages) {
          if (poll_under(consuming, *cq, {&found, 1}) == 0) {
            std::this_thread::yield();
            continue;
          }
          seen[found.wr_id].fetch_add(1);
          completed.fetch_add(1);
        }
      });
    }
    threads.emplace_back([&] {
      for (std::size_t size = 64; completed.load() < kMessages; size = size == 64 ? 512 : 64) {
        const std::lock_guard lock(consuming);
        [[maybe_unused]] const auto outcome = cq->resize(size);
      }
    });
    for (std::uint64_t i = 0; i < kMessages; ++i) {
      // No more than the smaller size holds.
      while (i - completed.load() >= 48) std::this_thread::yield();
      while (!pair.active().post_send(
          {.wr_id = i, .opcode = hca::SendOpcode::kWrite, .flags = hca::kSignaled, .local = {}})) {
        std::this_thread::yield();
      }
    }
  }
  for (const auto& count : seen) ASSERT_EQ(count.load(), 1);
}

}  // namespace
}  // namespace softdat::simnic::testing
