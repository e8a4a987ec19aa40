// SPDX-License-Identifier: BSD-2-Clause
// CR: a peer's wish to connect, waiting for the consumer's answer.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hca/device.h"
#include "libdat/object/endpoint_parameters.h"
#include "libdat/object/endpoint_state.h"
#include "libdat/object/handle_table.h"
#include "libdat/object/object.h"
#include "libdat/object/socket_address.h"
#include "libdat/object/status.h"

namespace softdat::object {

class Endpoint;
class EventDispatcher;

// Service points take every request: the backlog is the EVD's queue, whatever its length is by then, and requests that
// the consumer has taken out of it count no more.
inline constexpr std::uint32_t kNoBacklog = ~std::uint32_t{0};

struct ConnectionRequestParameters {
  const SocketAddress* remote_address;  // the CR's
  std::uint64_t remote_port_qual;
  std::span<const std::byte> private_data;  // the CR's; the consumer may write into it
  Handle local_ep;                          // null unless the service point brought one
};

// Any thread. The handle is spent once accept() or reject() has succeeded. A CR that is never
// answered, or whose event is lost with its EVD, refuses the peer when it goes.
class ConnectionRequest final : public Object {
 public:
  static constexpr Kind kKind = Kind::kCr;

  // dat_cr_accept. `ep` null: the EP that the service point brought. On failure CR and EP are as
  // before.
  static Status accept(Pin<ConnectionRequest> cr, Endpoint* ep, std::span<const std::byte> private_data);
  // dat_cr_reject; DAT 1.2 has no private data.
  static Status reject(Pin<ConnectionRequest> cr, std::span<const std::byte> private_data);
  // dat_cr_handoff. INVALID_PARAMETER, and the CR as before, when no service point of the adapter listens there.
  static Status hand_off(Pin<ConnectionRequest> cr, std::uint64_t conn_qual);

  ConnectionRequestParameters query() const;  // dat_cr_query

  // --- For service points ---

  // Makes the CR and posts its event. False when either fails; the peer is then refused. `ep` is the
  // one that the service point brings, or null.
  static bool announce(Object& service_point, std::uint64_t conn_qual, EventDispatcher& evd,
                       std::unique_ptr<hca::ConnectionRequest> request, std::shared_ptr<Endpoint> ep,
                       const Communicator& communicator = {});

 private:
  ConnectionRequest(InterfaceAdapter& ia, std::unique_ptr<hca::ConnectionRequest> request, std::shared_ptr<Endpoint> ep,
                    const Communicator& communicator);
  static std::shared_ptr<ConnectionRequest> make(InterfaceAdapter& ia, std::unique_ptr<hca::ConnectionRequest> request,
                                                 const std::shared_ptr<Endpoint>& ep, const Communicator& communicator);
  class Claim;
  Status accept_with(Endpoint* ep, std::span<const std::byte> private_data);
  void detach() override;

  // Fixed after construction.
  std::unique_ptr<hca::ConnectionRequest> request_;
  const std::shared_ptr<Endpoint> ep_;
  const Reservation held_;           // how ep_ is kept for this request
  const Communicator communicator_;  // of the common service point that it came to
  std::vector<std::byte> private_data_;
  const SocketAddress remote_address_;

  std::atomic<bool> is_being_answered_{false};  // one answer at a time
  std::atomic<bool> is_accepted_{false};
};

}  // namespace softdat::object
