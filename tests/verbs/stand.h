// SPDX-License-Identifier: BSD-2-Clause
// A device of the backend's over the fake libraries, put together without looking for one.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "tests/verbs/fake_device.h"
#include "verbs/completion_queue.h"
#include "verbs/memory_region.h"
#include "verbs/memory_window.h"
#include "verbs/queue_pair.h"

namespace softdat::verbs {

class QuietSink final : public hca::CompletionSink {
 public:
  void on_completion() override {}
  void on_overflow() override {}
};

// Remembers what the consumer would have heard.
class Hearer final : public hca::QueuePairSink {
 public:
  void on_connection_event(const hca::ConnectionEvent& event) override {
    const std::lock_guard lock(mutex_);
    heard_.push_back(event.type);
    came_.notify_all();
  }
  std::vector<hca::ConnectionEventType> await(std::size_t count) {
    std::unique_lock lock(mutex_);
    came_.wait_for(lock, std::chrono::seconds(240), [&] { return heard_.size() >= count; });
    return heard_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<hca::ConnectionEventType> heard_;
};

class Stand {
 public:
  explicit Stand(const Traits& traits = {}) : traits_(traits) {
    fake::allow_entries(0);
    fake::allow_resizing(true);
    adapter_->context = library().devices.open_device(nullptr);
    adapter_->is_iwarp = traits_.is_iwarp;
    adapter_->completions = library().objects.create_comp_channel(adapter_->context);
    adapter_->connections = library().cm.create_event_channel();
    events_ = std::make_unique<EventThread>(adapter_);
    domain_ = std::make_unique<ProtectionDomain>(*adapter_, library().objects.alloc_pd(adapter_->context), 1);
  }

  static const Library& library() {
    static const auto* const loaded = new Library::Loaded(Library::load({.verbs = FAKE_LIBRARY, .cm = FAKE_LIBRARY}));
    return *loaded->value();
  }

  std::unique_ptr<CompletionQueue> make_cq(std::size_t capacity) {
    auto made = CompletionQueue::create(*events_, *adapter_, capacity, sink_);
    return std::unique_ptr<CompletionQueue>(static_cast<CompletionQueue*>(std::move(made).value().release()));
  }

  std::unique_ptr<QueuePair> make_qp(CompletionQueue& queue, std::uint32_t wr, hca::QueuePairSink* sink = nullptr) {
    hca::QueuePairConfig config;
    config.pd = domain_.get();
    config.send_cq = config.recv_cq = &queue;
    config.limits = {.send_wr = wr, .recv_wr = wr, .send_sge = 1, .recv_sge = 1, .ird = 4, .ord = 4};
    config.sink = sink;
    auto made = QueuePair::create({*events_, *adapter_, memory_, withheld_, traits_}, config);
    return std::unique_ptr<QueuePair>(static_cast<QueuePair*>(std::move(made).value().release()));
  }

  // For one queue pair.
  std::unique_ptr<hca::MemoryWindow> make_window() {
    return MemoryWindow::create(memory_, domain_->pd(), domain_->id(), hca::WindowScope::kQueuePair, 1).value();
  }

  MemoryTable& memory() { return memory_; }
  EventThread& events() { return *events_; }
  const Adapter& adapter() const { return *adapter_; }

  // As one that answers. The connection manager says at once that the connection stands.
  static void accept(QueuePair& queue_pair, std::uint32_t ird = 0, std::uint32_t ord = 0) {
    CmEvent request{.type = RDMA_CM_EVENT_CONNECT_REQUEST, .id = fake::make_id(), .ird = ird, .ord = ord};
    ASSERT_TRUE(queue_pair.accept(request, {}));
  }

 private:
  const Traits traits_;
  std::shared_ptr<Adapter> adapter_ = std::make_shared<Adapter>(library());
  MemoryTable memory_;
  WithheldEstablished withheld_;
  QuietSink sink_;
  std::unique_ptr<EventThread> events_;
  std::unique_ptr<ProtectionDomain> domain_;
};

}  // namespace softdat::verbs
