// SPDX-License-Identifier: BSD-2-Clause
// CmId: the rdma_cm_id of a queue pair's connection, and what is said over it: how a connection is asked for (the
// address is resolved, then the route, then the request goes out), answered and ended. The states of the connection are
// Connection's.
//
// Ownership: owns the id from open() or adopt() until release(), which gives it to the event thread.
// Threads: every call REQUIRES the connection's mutex. None waits.
#pragma once

#include <optional>
#include <span>

#include "base/clock.h"
#include "hca/device.h"
#include "verbs/device_queue_pair.h"
#include "verbs/device_view.h"

namespace softdat::verbs {

class OutgoingPrivateData;

class CmId {
 public:
  // Why a step failed, as the consumer gets it. Empty: it is under way, and an event tells how it ends.
  using Failed = std::optional<hca::ConnectionEventType>;

  // The events of the id go to the target.
  CmId(const DeviceView& device, const hca::QueuePairConfig& config, DeviceQueuePair& device_pair, EventTarget& target);

  bool is_open() const { return id_ != nullptr; }
  bool is(const rdma_cm_id* id) const { return id_ == id; }

  // --- The connecting side, in this order ---
  hca::Outcome open(const hca::ConnectParameters& parameters);
  Failed resolve_address();
  Failed resolve_route();
  Failed send_request();

  // --- The accepting side ---
  // Takes the id of request over, which is null afterwards. Throws std::bad_alloc; then the request keeps it.
  void adopt(CmEvent& request);
  // False: no answer went out.
  bool answer(const CmEvent& request, std::span<const std::byte> private_data);

  // For CONNECT_RESPONSE, where the device leaves it to us to confirm the connection. False: that failed.
  bool confirm(const CmEvent& response);
  void on_established();
  // IBV_EVENT_COMM_EST: the peer's data is here before its confirmation.
  void notify(ibv_event_type type);
  void disconnect();
  // The event thread destroys the id. Its events are no longer ours. Does nothing without an id.
  void release();

  const hca::Address& remote() const { return remote_; }
  std::uint16_t port() const { return port_; }  // our own; 0: not known yet
  std::uint64_t service_id() const { return service_id_; }
  base::Time deadline() const { return deadline_; }  // of open(); kNever once established
  void forget_peer();

 private:
  hca::Result<rdma_cm_id*> make_id();
  bool take_another_port();
  int milliseconds_left() const;
  rdma_conn_param conn_param(const OutgoingPrivateData& data, std::uint32_t ird, std::uint32_t ord) const;
  bool move_to(ibv_qp_state state, std::uint32_t ird, std::uint32_t ord);
  void note_port();

  const DeviceView device_;
  const hca::QueuePairLimits limits_;
  const bool has_srq_;
  DeviceQueuePair& device_pair_;
  EventTarget& target_;

  rdma_cm_id* id_ = nullptr;
  hca::Address remote_{};
  std::uint16_t port_ = 0;
  hca::Bytes private_data_;  // of the request, until it is sent
  std::uint64_t service_id_ = 0;
  base::Time deadline_ = base::kNever;
  int ports_left_ = 0;  // that may be tried yet
};

}  // namespace softdat::verbs
