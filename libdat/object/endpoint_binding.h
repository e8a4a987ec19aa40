// SPDX-License-Identifier: BSD-2-Clause
// What an EP's queue pair is made of, tied together for as long as it lives.
#pragma once

#include <cstdint>
#include <memory>

#include "hca/device.h"
#include "libdat/object/endpoint_attributes.h"
#include "libdat/object/object.h"
#include "libdat/object/status.h"

namespace softdat::object {

class EventDispatcher;
class ProtectionZone;

struct BindingConfig {
  std::shared_ptr<ProtectionZone> pz;            // null: no queue pair yet
  std::shared_ptr<EventDispatcher> recv_evd;     // null: completions are swallowed
  std::shared_ptr<EventDispatcher> request_evd;  // null: completions are swallowed
  EndpointAttributes attributes;                 // complete
};

// Where completions go that nobody wants. Emptied by every post, so it cannot overflow.
class SwallowedCompletions final : private hca::CompletionSink {
 public:
  static hca::Result<std::unique_ptr<SwallowedCompletions>> create(hca::Device& device, std::size_t capacity);
  hca::CompletionQueue& queue() const { return *queue_; }
  void swallow() const;

 private:
  void on_completion() override {}
  void on_overflow() override {}
  std::unique_ptr<hca::CompletionQueue> queue_;
};

// Owns the queue pair and its share in the PZ and the EVDs; immutable, so that a post needs no lock.
class EndpointBinding {
 public:
  // Joins the EVDs' streams and makes the queue pair. On failure nothing is joined.
  static Status create(const std::shared_ptr<hca::Device>& device, const BindingConfig& config, Handle ep,
                       hca::QueuePairSink& sink, StatusDetail attributes_argument,
                       std::unique_ptr<EndpointBinding>& out);
  ~EndpointBinding();

  EndpointBinding(const EndpointBinding&) = delete;
  EndpointBinding& operator=(const EndpointBinding&) = delete;

  // Null while the EP has no PZ.
  hca::QueuePair* queue_pair() const { return queue_pair_.get(); }
  const BindingConfig& config() const { return config_; }

  bool may_post_unsignalled_recv() const { return may_post_unsignalled_recv_; }
  bool may_post_unsignalled_request() const { return may_post_unsignalled_request_; }
  bool reports_requests() const { return config_.request_evd != nullptr; }
  // Makes room where completions are swallowed; nothing when both EVDs are there.
  void swallow() const {
    if (swallowed_ != nullptr) swallowed_->swallow();
  }

  // Gives up the streams and the PZ now; the queue pair is gone first. Called once, by the EP.
  void release();

 private:
  EndpointBinding(std::shared_ptr<hca::Device> device, const BindingConfig& config);
  Status join_streams(StatusDetail argument);
  Status make_queue_pair(Handle ep, hca::QueuePairSink& sink);

  // Fixed after create(), in the order in which they go.
  std::shared_ptr<hca::Device> device_;
  BindingConfig config_;
  bool may_post_unsignalled_recv_;
  bool may_post_unsignalled_request_;
  bool is_using_pz_ = false;
  bool is_feeding_recv_ = false;
  bool is_feeding_request_ = false;
  std::unique_ptr<SwallowedCompletions> swallowed_;
  std::unique_ptr<hca::QueuePair> queue_pair_;
};

}  // namespace softdat::object
