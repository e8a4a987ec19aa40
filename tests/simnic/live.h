// SPDX-License-Identifier: BSD-2-Clause
// For tests of NICs that turn by themselves.
#pragma once

#include <atomic>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "tests/simnic/world.h"

namespace softdat::simnic::testing {

// Whether `is_done` comes true while a generous deadline lasts.
template <typename Predicate>
bool await(Predicate is_done) {
  const base::Time deadline = base::Clock::now() + std::chrono::minutes(4);
  while (!is_done()) {
    if (base::Clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

// For several threads that poll a queue in turn.
inline std::size_t poll_under(std::mutex& lock, hca::CompletionQueue& queue, std::span<hca::Completion> out) {
  const std::lock_guard hold(lock);
  return queue.poll(out);
}

// A sink whose log any thread may read.
class LiveSink final : public hca::QueuePairSink {
 public:
  int count(ConnectionEventType type) {
    const std::lock_guard lock(mutex_);
    int found = 0;
    for (const ConnectionEventType event : events_) found += event == type ? 1 : 0;
    return found;
  }

 private:
  void on_connection_event(const hca::ConnectionEvent& event) override {
    const std::lock_guard lock(mutex_);
    events_.push_back(event.type);
  }

  std::mutex mutex_;
  std::vector<ConnectionEventType> events_;
};

struct LiveCompletionSink final : hca::CompletionSink {
  void on_completion() override { completions.fetch_add(1); }
  void on_overflow() override { overflows.fetch_add(1); }
  std::atomic<int> completions{0};
  std::atomic<int> overflows{0};
};

// Accepts every request with the queue pair that is next in line.
class LiveAcceptor final : public hca::ListenerSink {
 public:
  void expect(hca::QueuePair& qp) {
    const std::lock_guard lock(mutex_);
    line_.push_back(&qp);
  }

 private:
  void on_request(std::unique_ptr<hca::ConnectionRequest> request) override {
    const std::lock_guard lock(mutex_);
    ASSERT_FALSE(line_.empty());
    EXPECT_TRUE(request->accept(*line_.front(), {}).ok());
    line_.erase(line_.begin());
  }

  std::mutex mutex_;
  std::vector<hca::QueuePair*> line_;
};

// What one end of a live connection needs.
struct LiveSide {
  hca::Device& device;
  hca::ProtectionDomain& pd;
  hca::CompletionQueue& cq;
};

// Both ends of a connection between two live NICs, which may be one.
class LivePair {
 public:
  LivePair(const LiveSide& here, const LiveSide& there, LiveAcceptor& acceptor, std::uint64_t service_id,
           const hca::QueuePairLimits& limits = Endpoint::kLimits)
      : active_(make(here, active_sink_, limits, 0)), passive_(make(there, passive_sink_, limits, 1)) {
    acceptor.expect(*passive_);
    expect_ok(
        active_->connect({.remote = there.device.attributes().address, .service_id = service_id, .private_data = {}}));
    EXPECT_TRUE(await([&] {
      return active_sink_.count(ConnectionEventType::kEstablished) == 1 &&
             passive_sink_.count(ConnectionEventType::kEstablished) == 1;
    }));
  }

  hca::QueuePair& active() { return *active_; }
  hca::QueuePair& passive() { return *passive_; }
  LiveSink& active_sink() { return active_sink_; }
  LiveSink& passive_sink() { return passive_sink_; }
  void destroy_active() { active_.reset(); }

 private:
  static std::unique_ptr<hca::QueuePair> make(const LiveSide& side, LiveSink& sink, const hca::QueuePairLimits& limits,
                                              std::uint64_t context) {
    hca::QueuePairConfig config;
    config.pd = &side.pd;
    config.send_cq = config.recv_cq = &side.cq;
    config.limits = limits;
    config.context = context;
    config.sink = &sink;
    return expect_ok(side.device.create_qp(config));
  }

  LiveSink active_sink_;
  LiveSink passive_sink_;
  std::unique_ptr<hca::QueuePair> active_;
  std::unique_ptr<hca::QueuePair> passive_;
};

// One NIC on a loop network of its own, turned by its engine thread.
class LiveTest : public ::testing::Test {
 protected:
  LiveSide side(hca::CompletionQueue& cq) { return {host_.nic(), host_.pd(), cq}; }
  std::unique_ptr<LivePair> connect(hca::CompletionQueue& cq) {
    return std::make_unique<LivePair>(side(cq), side(cq), acceptor_, kService);
  }

  transport::loop::LoopNetwork network_;
  Host host_{network_, 0x0a000001, NicConfig{.drive = Drive::kThread}};
  LiveCompletionSink completions_;
  LiveAcceptor acceptor_;
  std::unique_ptr<hca::Listener> listener_ = expect_ok(host_.nic().listen(kService, 1000, acceptor_));
};

}  // namespace softdat::simnic::testing
