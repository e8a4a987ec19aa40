// SPDX-License-Identifier: BSD-2-Clause
// An hca::Device without a network: tests say what happens to it, and see what it was asked.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "hca/counters.h"
#include "hca/device.h"

namespace softdat::object {

class FakeCompletionQueue : public hca::CompletionQueue {
 public:
  FakeCompletionQueue(std::size_t capacity, hca::CompletionSink& sink) : capacity_(capacity), sink_(sink) {}
  // As a device whose call of the sink is still under way then.
  ~FakeCompletionQueue() override {
    if (calls_sink_at_end_) sink_.on_completion();
  }

  // Called by size() on the thread that set it, after the queue was counted. Set before other threads use the queue.
  void after_counting(std::function<void()> hook) {
    counter_ = std::this_thread::get_id();
    hook_ = std::move(hook);
  }

  // Called by the next arm(), before it has any effect.
  void before_arming(std::function<void()> hook) {
    std::lock_guard lock(mutex_);
    arming_ = std::move(hook);
  }

  // Called by the next poll(), before it has any effect.
  void before_polling(std::function<void()> hook) {
    std::lock_guard lock(mutex_);
    polling_ = std::move(hook);
  }

  void call_sink_at_end() { calls_sink_at_end_ = true; }

  // A completion arrives; a quiet one tells nobody. Overflows when there is no room.
  void add(const hca::Completion& completion, bool is_quiet = false);

  std::size_t poll(std::span<hca::Completion> out) override;
  std::size_t size() const override;
  std::size_t capacity() const override;
  hca::Outcome resize(std::size_t capacity) override;
  base::EventCount& event_count() override { return wake_; }
  void arm(bool solicited_only) override;

 private:
  enum class Armed { kNo, kAll, kSolicited };
  class OnlyConsumer;
  std::atomic<bool> is_consumed_{false};  // poll() or resize() is under way
  bool calls_sink_at_end_ = false;
  mutable std::mutex mutex_;
  std::deque<hca::Completion> completions_;
  std::size_t capacity_;
  Armed armed_ = Armed::kNo;
  bool has_overflowed_ = false;
  hca::CompletionSink& sink_;
  base::EventCount wake_;
  std::thread::id counter_;
  std::function<void()> hook_;
  std::function<void()> arming_;   // guarded by mutex_
  std::function<void()> polling_;  // guarded by mutex_
};

// Follows the contract of hca/queue_pair.h for everything a consumer does to it; the peer's part is
// played by the test.
class FakeQueuePair : public hca::QueuePair, public hca::CountingQueuePair {
 public:
  struct Posted {
    std::uint64_t wr_id;
    hca::SendOpcode opcode;
    std::uint32_t flags;
    std::uint32_t rkey;
    std::uint64_t remote_address;
    std::vector<hca::Segment> local;
  };

  explicit FakeQueuePair(const hca::QueuePairConfig& config) : config_(config) {}

  // --- The test's part ---
  void move_to(hca::QueuePairState state) { state_.store(state); }
  // Changes the state first, then tells the sink.
  void happen(hca::ConnectionEventType type, hca::QueuePairState state, hca::Bytes private_data = {});
  void establish(hca::Bytes private_data = {});
  // The oldest posted request or receive completes.
  void complete_send(hca::CompletionStatus status = hca::CompletionStatus::kSuccess);
  void complete_recv(std::uint32_t length, bool solicited = false,
                     hca::CompletionStatus status = hca::CompletionStatus::kSuccess);
  void flush();
  std::deque<Posted> sends;
  std::deque<Posted> recvs;
  hca::ConnectParameters connected_to;  // its private data: connect_data
  std::vector<std::byte> connect_data;
  bool was_graceful = false;
  // The answer of the next post or reset, once.
  std::optional<hca::Error> next_refusal;
  std::uint32_t soft_limit = hca::kNoRecvLimit;
  std::uint32_t hard_limit = hca::kNoRecvLimit;
  hca::QueuePairSink& sink() { return *config_.sink; }
  bool has_news = false;  // which the sink has not heard yet
  // Called once, when another queue pair is about to take the place of this one and it takes no receives any more.
  std::function<void()> after_retiring;
  // Called once, by the next transfer_counts().
  mutable std::function<void()> before_counting;
  hca::TransferCounts transfers{};

  // --- hca::QueuePair, hca::CountingQueuePair ---
  hca::TransferCounts transfer_counts() const override {
    if (const auto hook = std::exchange(before_counting, {})) hook();
    return transfers;
  }
  const hca::QueuePairLimits& limits() const override { return config_.limits; }
  hca::Outcome post_send(const hca::SendRequest& request) override;
  hca::Result<std::uint32_t> post_bind(const hca::BindRequest& request) override;
  hca::Outcome post_recv(const hca::RecvRequest& request) override;
  std::uint32_t sends_outstanding() const override { return static_cast<std::uint32_t>(sends.size()); }
  std::uint32_t recvs_outstanding() const override { return static_cast<std::uint32_t>(recvs.size()); }
  void set_recv_limits(std::uint32_t soft, std::uint32_t hard) override {
    soft_limit = soft;
    hard_limit = hard;
  }
  hca::Outcome connect(const hca::ConnectParameters& parameters) override;
  hca::Outcome disconnect(bool graceful) override;
  hca::Outcome reset() override;
  hca::Address remote_address() const override { return {}; }
  std::uint16_t local_port() const override { return 4321; }
  hca::Outcome inherit_recvs(hca::QueuePair& from) override;
  hca::Outcome retire() override;
  bool has_told_all() const override { return !has_news; }

 private:
  void end_receives();
  void complete(hca::CompletionQueue& queue, const Posted& posted, hca::CompletionOpcode opcode,
                hca::CompletionStatus status, std::uint32_t length, bool solicited);

  hca::QueuePairConfig config_;
  std::atomic<bool> is_retired_{false};
};

// Counts and remembers; takers are played by the test.
class FakeSharedReceiveQueue : public hca::SharedReceiveQueue {
 public:
  explicit FakeSharedReceiveQueue(const hca::SharedReceiveQueueConfig& config)
      : config_(config), capacity_(config.capacity) {}

  // --- The test's part ---
  hca::SharedReceiveQueueSink& sink() { return *config_.sink; }
  std::vector<std::uint64_t> posted;
  std::uint32_t limit = 0;
  // What the next post or resize answers, once.
  std::optional<hca::Error> next_refusal;

  // --- hca::SharedReceiveQueue ---
  std::uint32_t capacity() const override { return capacity_; }
  hca::Outcome post_recv(const hca::RecvRequest& request) override;
  hca::Outcome resize(std::uint32_t capacity) override;
  void arm(std::uint32_t new_limit) override { limit = new_limit; }
  hca::SharedReceiveCounts counts() const override;

 private:
  hca::SharedReceiveQueueConfig config_;
  std::uint32_t capacity_;
};

// What became of a request.
struct FakeAnswer {
  std::atomic<bool> is_accepted{false};
  std::atomic<bool> is_rejected{false};
  std::atomic<bool> is_dropped{false};  // unanswered
  std::atomic<bool> is_handed_off{false};
  hca::Bytes private_data;
};

class FakeDevice final : public hca::Device {
 public:
  FakeDevice();
  ~FakeDevice() override;

  // A peer wishes to connect. Null when nobody listens.
  std::shared_ptr<FakeAnswer> arrive(std::uint64_t service_id, hca::Bytes private_data = {});
  // One that was handed off. False when nobody listens.
  bool arrive(std::uint64_t service_id, hca::Bytes private_data, const std::shared_ptr<FakeAnswer>& answer);
  // Service ids from there on are taken by others.
  std::uint64_t first_taken = ~std::uint64_t{0};
  std::size_t listen_calls = 0;
  // What a peer says of its reads from now on.
  std::uint32_t peer_ird = 0;
  std::uint32_t peer_ord = 0;

  // Done by the next progress(), of whichever thread.
  void on_progress(std::function<void()> work);

  hca::DeviceAttributes limits;
  std::vector<hca::DeviceSink*> sinks;
  std::vector<FakeQueuePair*> queue_pairs;   // in order of creation
  std::vector<FakeCompletionQueue*> queues;  // in order of creation
  std::vector<FakeSharedReceiveQueue*> shared_queues;
  std::optional<hca::Error> next_srq_refusal;  // what the next create_srq() answers, once
  std::atomic<int> live_objects{0};            // of all kinds
  std::atomic<int> progress_calls{0};

  const hca::DeviceAttributes& attributes() const override { return limits; }
  hca::Result<std::unique_ptr<hca::ProtectionDomain>> create_pd() override;
  hca::Result<std::unique_ptr<hca::MemoryRegion>> register_memory(hca::ProtectionDomain& pd, std::uint64_t address,
                                                                  std::uint64_t length,
                                                                  hca::AccessMask access) override;
  hca::Result<std::unique_ptr<hca::MemoryWindow>> create_window(hca::ProtectionDomain& pd, hca::WindowScope scope,
                                                                std::uint64_t context) override;
  hca::Outcome check_memory(std::uint32_t lkey, std::uint64_t address, std::uint64_t length) const override;
  hca::Result<std::unique_ptr<hca::CompletionQueue>> create_cq(std::size_t capacity,
                                                               hca::CompletionSink& sink) override;
  hca::Result<std::unique_ptr<hca::QueuePair>> create_qp(const hca::QueuePairConfig& config) override;
  hca::Result<std::unique_ptr<hca::SharedReceiveQueue>> create_srq(
      const hca::SharedReceiveQueueConfig& config) override;
  hca::Result<std::unique_ptr<hca::Listener>> listen(std::uint64_t service_id, std::uint32_t backlog,
                                                     hca::ListenerSink& sink) override;
  void watch(hca::DeviceSink& sink) override { sinks.push_back(&sink); }
  void forget(hca::DeviceSink& sink) override { std::erase(sinks, &sink); }
  bool progress() override;
  base::WakeReason sleep(base::EventCount& count, base::EventCount::Ticket ticket, base::Time deadline) override;

 private:
  friend class FakeListener;
  std::mutex mutex_;
  std::map<std::uint64_t, hca::ListenerSink*> listeners_;
  std::deque<std::function<void()>> work_;
};

}  // namespace softdat::object
