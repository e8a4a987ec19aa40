// SPDX-License-Identifier: BSD-2-Clause
// EP: one end of a connection. A thin coat over a queue pair, whose state is the connection's only
// truth.
#pragma once

#include <netinet/in.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "hca/device.h"
#include "libdat/object/endpoint_attributes.h"
#include "libdat/object/endpoint_binding.h"
#include "libdat/object/endpoint_parameters.h"
#include "libdat/object/endpoint_state.h"
#include "libdat/object/event.h"
#include "libdat/object/handle_table.h"
#include "libdat/object/object.h"
#include "libdat/object/status.h"

namespace softdat::object {

class EventDispatcher;

// Calls from any thread. Argument numbers in a Status are those of the DAT function.
class Endpoint final : public Object, private hca::QueuePairSink {
 public:
  static constexpr Kind kKind = Kind::kEp;

  static Status create(InterfaceAdapter& ia, const EndpointConfig& config, Handle& ep);

  // dat_ep_free, in every state but those that a service point holds. Breaks a live connection.
  static Status free(Pin<Endpoint> ep);

  // The data path; endpoint_post.cc. A refused post leaves no trace.
  Status post_send(std::span<const Segment> local, std::uint64_t cookie, std::uint32_t flags);
  Status post_recv(std::span<const Segment> local, std::uint64_t cookie, std::uint32_t flags);
  Status post_rdma_write(std::span<const Segment> local, std::uint64_t cookie, const RemoteBuffer& remote,
                         std::uint32_t flags);
  Status post_rdma_read(std::span<const Segment> local, std::uint64_t cookie, const RemoteBuffer& remote,
                        std::uint32_t flags);

  Status connect(const ConnectRequest& request);  // dat_ep_connect
  Status disconnect(bool is_graceful);            // dat_ep_disconnect
  Status reset();                                 // dat_ep_reset
  EndpointStatus status() const;                  // dat_ep_get_status
  EndpointParameters query() const;               // dat_ep_query
  Status modify(const EndpointChange& change);    // dat_ep_modify; all of it or nothing

  // --- For service points and connection requests ---

  EndpointState state() const;
  // UNCONNECTED > RESERVED, and back; INVALID_STATE otherwise.
  Status reserve();
  void release_reservation();
  // RESERVED > PASSIVE_CONNECTION_PENDING. False when the EP is not reserved any more.
  bool on_request_arrived();
  // An EP in the provider's hands: no PZ, no EVDs, TENTATIVE_CONNECTION_PENDING.
  static Status create_tentative(InterfaceAdapter& ia, Handle& ep);
  // dat_cr_accept: `held` is what the EP must be held by.
  Status accept(hca::ConnectionRequest& request, Reservation held, std::span<const std::byte> private_data);

 private:
  explicit Endpoint(InterfaceAdapter& ia);
  Status set_up(const EndpointConfig& config);

  // hca::QueuePairSink
  void on_connection_event(const hca::ConnectionEvent& event) override;
  // Object
  void detach() override;

  hca::QueuePairState queue_pair_state() const;
  EndpointState state_locked() const;
  const EndpointBinding* binding() const { return binding_.load(std::memory_order_acquire); }
  void keep_private_data(const hca::ConnectionEvent& event);
  Status check_connect(const ConnectRequest& request) const;
  Status check_post(const EndpointBinding* binding, std::uint32_t flags, std::uint32_t known, std::uint32_t mode,
                    StatusDetail argument) const;
  Status post_request(const EndpointBinding& binding, hca::SendRequest& request, std::uint32_t flags, bool is_read);
  Status check_modify_locked(const EndpointChange& change) const;
  Status replace_binding_locked(const BindingConfig& config);
  Status attach_connect_evd_locked(EventDispatcher* evd);

  // Fixed after set_up().
  std::shared_ptr<hca::Device> device_;

  // Replaced under mutex_ while idle, read by the data path without it; what it pointed at before
  // stays until detach().
  std::atomic<const EndpointBinding*> binding_{nullptr};

  // Guarded by mutex_ (never held while a queue pair may call us back).
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<EndpointBinding>> bindings_;
  EndpointAttributes attributes_;
  std::shared_ptr<EventDispatcher> connect_evd_;
  std::atomic<Reservation> reservation_{Reservation::kNone};
  std::uint64_t remote_port_qual_ = 0;
  sockaddr_in remote_address_{};
  std::vector<hca::Bytes> private_data_;  // of the peer, handed out in events since the last reset
};

}  // namespace softdat::object
