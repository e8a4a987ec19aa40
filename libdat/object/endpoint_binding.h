// SPDX-License-Identifier: BSD-2-Clause
// What an EP's queue pair is made of, tied together for as long as it lives.
#pragma once

#include <cstdint>
#include <memory>

#include "hca/datagram.h"
#include "libdat/object/endpoint_attributes.h"
#include "libdat/object/object.h"
#include "libdat/object/status.h"
#include "libdat/object/swallowed_completions.h"

namespace softdat::object {

class EventDispatcher;
class ProtectionZone;
class SharedReceiveQueue;

struct BindingConfig {
  std::shared_ptr<ProtectionZone> pz;            // null: no queue pair yet
  std::shared_ptr<EventDispatcher> recv_evd;     // null: completions are swallowed
  std::shared_ptr<EventDispatcher> request_evd;  // null: completions are swallowed
  EndpointAttributes attributes;                 // complete
  const SharedReceiveQueue* srq = nullptr;       // outlives the queue pair; null: receives are posted to the EP
};

// Who hears what becomes of the queue pair; the second only if it is one for datagrams.
struct EndpointSinks {
  hca::QueuePairSink& connected;
  hca::DatagramSink& datagram;
};

// Owns the queue pair and its share in the PZ and the EVDs. What the data path reads is fixed, so
// that a post needs no lock. An EP keeps a binding that it has replaced while other calls are under way: a post that
// has just looked it up still finds a queue pair, a retired one.
class EndpointBinding {
 public:
  // Joins the PZ and the EVDs' streams and makes the queue pair. INVALID_HANDLE for an EVD of
  // another device or without DTO stream, INSUFFICIENT_RESOURCES. On failure nothing is joined.
  static Status create(const std::shared_ptr<hca::Device>& device, const BindingConfig& config, Handle ep,
                       const EndpointSinks& sinks, std::unique_ptr<EndpointBinding>& out);
  ~EndpointBinding();

  EndpointBinding(const EndpointBinding&) = delete;
  EndpointBinding& operator=(const EndpointBinding&) = delete;

  // Null while the EP has no PZ.
  hca::QueuePair* queue_pair() const { return queue_pair_.get(); }
  // The same, if it is one for datagrams.
  hca::DatagramQueuePair* datagram_queue_pair() const { return datagram_queue_pair_; }
  const BindingConfig& config() const { return config_; }
  hca::Device& device() const { return *device_; }
  Handle ep() const { return ep_; }

  bool may_post_unsignalled_recv() const { return may_post_unsignalled_recv_; }
  bool may_post_unsignalled_request() const { return may_post_unsignalled_request_; }
  bool reports_requests() const { return config_.request_evd != nullptr; }
  // Makes room where completions are swallowed; nothing when both EVDs are there.
  void swallow() const {
    if (swallowed_ != nullptr) swallowed_->swallow();
  }

  // Leaves the PZ and the streams for good, so that they may be freed. The queue pair is untouched. Under the EP's
  // lock.
  void leave();

  // Destroys the queue pair. No post may be under way; sinks may be called until it returns.
  void destroy_queue_pair() { queue_pair_.reset(); }

 private:
  EndpointBinding(std::shared_ptr<hca::Device> device, const BindingConfig& config, Handle ep);
  Status join();
  Status make_queue_pair(const EndpointSinks& sinks);
  Status make_datagram_queue_pair(const hca::QueuePairConfig& config, hca::DatagramSink& sink);
  Status make_swallowed();

  // Fixed after create(), in the order in which they are needed.
  const std::shared_ptr<hca::Device> device_;
  const BindingConfig config_;
  const bool may_post_unsignalled_recv_;
  const bool may_post_unsignalled_request_;
  const Handle ep_;
  std::unique_ptr<SwallowedCompletions> swallowed_;
  std::unique_ptr<hca::QueuePair> queue_pair_;
  hca::DatagramQueuePair* datagram_queue_pair_ = nullptr;

  // Guarded by the EP's lock.
  bool is_in_pz_ = false;
  bool is_in_recv_evd_ = false;
  bool is_in_request_evd_ = false;
};

}  // namespace softdat::object
