// SPDX-License-Identifier: BSD-2-Clause
// One shared receive queue on a live NIC, fed, drained, asked and resized by many threads.
#include <thread>

#include "tests/simnic/live.h"

namespace softdat::simnic::testing {
namespace {

struct LiveLowSink final : hca::SharedReceiveQueueSink {
  void on_low() override { count.fetch_add(1); }
  std::atomic<int> count{0};
};

class SharedReceiveThreadsTest : public LiveTest {
 protected:
  std::unique_ptr<hca::SharedReceiveQueue> make_srq(std::uint32_t capacity) {
    hca::SharedReceiveQueueConfig config;
    config.pd = &host_.pd();
    config.capacity = capacity;
    config.max_sge = 1;
    config.sink = &low_;
    return expect_ok(host_.nic().create_srq(config));
  }
  std::unique_ptr<hca::QueuePair> make_qp(hca::CompletionQueue& cq, LiveSink& sink, hca::SharedReceiveQueue* srq) {
    hca::QueuePairConfig config;
    config.pd = &host_.pd();
    config.send_cq = config.recv_cq = &cq;
    config.limits = Endpoint::kLimits;
    config.sink = &sink;
    config.srq = srq;
    return expect_ok(host_.nic().create_qp(config));
  }

  LiveLowSink low_;
};

TEST_F(SharedReceiveThreadsTest, EveryMessageOfEveryConnectionArrivesOnce) {
  constexpr int kPairs = 4;
  constexpr int kMessages = 500;
  const auto srq = make_srq(8);
  const auto sends = expect_ok(host_.nic().create_cq(1024, completions_));
  const auto recvs = expect_ok(host_.nic().create_cq(64, completions_));
  std::array<LiveSink, kPairs * 2> sinks;
  std::vector<std::unique_ptr<hca::QueuePair>> senders, receivers;
  for (std::size_t i = 0; i < kPairs; ++i) {
    senders.push_back(make_qp(*sends, sinks[2 * i], nullptr));
    receivers.push_back(make_qp(*recvs, sinks[2 * i + 1], srq.get()));
    acceptor_.expect(*receivers.back());
    expect_ok(senders.back()->connect(
        {.remote = host_.nic().attributes().address, .service_id = kService, .private_data = {}}));
    ASSERT_TRUE(await([&] { return sinks[2 * i].count(ConnectionEventType::kEstablished) == 1; }));
  }
  std::vector<std::thread> threads;
  for (auto& sender : senders) {
    threads.emplace_back([&] {
      for (int i = 0; i < kMessages; ++i) {
        hca::SendRequest request;
        ASSERT_TRUE(await([&] { return sender->post_send(request).ok(); }));
      }
    });
  }
  std::atomic<int> received{0};
  std::atomic<bool> is_done{false};
  std::mutex polling;  // calls of poll() exclude each other
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!is_done.load()) {
        static_cast<void>(srq->post_recv({.wr_id = 1, .local = {}}));
        hca::Completion completion{};
        if (poll_under(polling, *recvs, {&completion, 1}) == 1) {
          EXPECT_STREQ(name_of(completion.status), "ok");
          received.fetch_add(1);
        }
        host_.nic().progress();
      }
    });
  }
  threads.emplace_back([&] {
    for (std::uint32_t size = 8; !is_done.load(); size = size == 8 ? 32 : 8) {
      static_cast<void>(srq->resize(size));
      srq->arm(4);
      const hca::SharedReceiveCounts counts = srq->counts();
      EXPECT_LE(counts.available, counts.outstanding);
      EXPECT_LE(counts.outstanding, 32u);
    }
  });
  EXPECT_TRUE(await([&] { return received.load() == kPairs * kMessages; }));
  is_done.store(true);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(received.load(), kPairs * kMessages);
  EXPECT_EQ(completions_.overflows.load(), 0);
}

TEST_F(SharedReceiveThreadsTest, QueuePairsComeAndGoWhileOthersAreServed) {
  const auto srq = make_srq(16);
  const auto cq = expect_ok(host_.nic().create_cq(4096, completions_));
  std::atomic<bool> is_done{false};
  std::thread poster([&] {
    while (!is_done.load()) {
      static_cast<void>(srq->post_recv({.wr_id = 1, .local = {}}));
      hca::Completion completion{};
      cq->poll({&completion, 1});
    }
  });
  for (int round = 0; round < 30; ++round) {
    LiveSink active_sink, passive_sink;
    auto active = make_qp(*cq, active_sink, nullptr);
    auto passive = make_qp(*cq, passive_sink, srq.get());
    acceptor_.expect(*passive);
    expect_ok(
        active->connect({.remote = host_.nic().attributes().address, .service_id = kService, .private_data = {}}));
    ASSERT_TRUE(await([&] { return active_sink.count(ConnectionEventType::kEstablished) == 1; }));
    for (int i = 0; i < 16; ++i) static_cast<void>(active->post_send({}));
    if (round % 2 == 0) {
      ASSERT_TRUE(await([&] { return active->sends_outstanding() == 0; }));
    }
    (round % 3 == 0 ? passive : active).reset();
  }
  is_done.store(true);
  poster.join();
}

}  // namespace
}  // namespace softdat::simnic::testing
