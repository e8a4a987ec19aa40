// SPDX-License-Identifier: BSD-2-Clause
// CR: a peer's connection request, waiting for the consumer's answer.
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

// The backlog of service points: no limit but the length of the EVD's queue. Requests that the consumer has taken from
// the EVD do not count.
inline constexpr std::uint32_t kNoBacklog = ~std::uint32_t{0};

struct ConnectionRequestParameters {
  const SocketAddress* remote_address;  // owned by the CR
  std::uint64_t remote_port_qual;
  std::span<const std::byte> private_data;  // owned by the CR; the consumer may write into it
  Handle local_ep;                          // the service point's, or null
};

// Any thread. The handle ends when accept(), reject() or hand-off succeeds. A CR that is destroyed unanswered, as with
// the EVD that holds its event, refuses the peer.
class ConnectionRequest final : public Object {
 public:
  static constexpr Kind kKind = Kind::kCr;

  // dat_cr_accept. `ep` null: the service point's EP. Failure changes nothing.
  static Status accept(Pin<ConnectionRequest> cr, Endpoint* ep, std::span<const std::byte> private_data);
  // dat_cr_reject; DAT 1.2 has no private data.
  static Status reject(Pin<ConnectionRequest> cr, std::span<const std::byte> private_data);
  // dat_cr_handoff. INVALID_PARAMETER, without any effect, if no service point of the adapter listens there.
  static Status hand_off(Pin<ConnectionRequest> cr, std::uint64_t conn_qual);

  ConnectionRequestParameters query() const;  // dat_cr_query

  // --- For service points ---

  // Creates the CR and posts its event. False if either fails; the peer is refused then. `ep` is the service point's,
  // or null.
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
  const Reservation held_;           // the reservation of ep_ for this request
  const Communicator communicator_;  // of the common service point that it came to
  std::vector<std::byte> private_data_;
  const SocketAddress remote_address_;

  std::atomic<bool> is_being_answered_{false};  // one answer at a time
  std::atomic<bool> is_accepted_{false};
};

}  // namespace softdat::object
