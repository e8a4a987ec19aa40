// SPDX-License-Identifier: BSD-2-Clause
// The connection of an EP: how it is made, accepted, ended and forgotten, the reservation by a service point before,
// and the record of the peer.
//
// Owned by the EP. Any thread. The record is guarded by the lock of the EP, which is held briefly; connect(), accept()
// and reset() hold the lock of modifications, so that none uses a binding that another replaces. Argument numbers in a
// Status are those of the DAT function.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hca/connection.h"
#include "libdat/object/endpoint_bindings.h"
#include "libdat/object/endpoint_counters.h"
#include "libdat/object/endpoint_parameters.h"
#include "libdat/object/endpoint_words.h"
#include "libdat/object/event.h"
#include "libdat/object/lock_places.h"
#include "libdat/object/object.h"
#include "libdat/object/socket_address.h"
#include "libdat/object/status.h"

namespace softdat::object {

class EndpointConnection {
 public:
  // The other side; all zero before a connection is begun.
  struct Peer {
    SocketAddress address{};
    std::uint64_t port_qual = 0;
    Communicator communicator;
  };
  // The arguments of the connect().
  struct Origin {
    hca::Address remote;
    std::uint64_t conn_qual;
    std::uint32_t flags;
    Communicator communicator;
  };

  // All outlive this object.
  EndpointConnection(const Object& ep, EndpointBindings& bindings, const EndpointWords& words,
                     EndpointCounters& counters, base::Mutex<locks::kModify>& modify_mutex,
                     base::Mutex<locks::kEndpoint>& mutex)
      : ep_(ep), bindings_(bindings), words_(words), counters_(counters), modify_mutex_(modify_mutex), mutex_(mutex) {}

  Status connect(const ConnectRequest& request);  // dat_ep_connect
  // dat_ep_dup_connect: connects to the service that `model` was connected to, after hand-offs. Uses the time-out,
  // private data and quality of `request` only.
  Status connect_like(const EndpointConnection& model, ConnectRequest request);
  Status disconnect(bool is_graceful);  // dat_ep_disconnect
  Status reset();                       // dat_ep_reset

  // --- For service points and connection requests ---

  // UNCONNECTED > RESERVED, and back; INVALID_STATE otherwise.
  Status reserve();
  void release_reservation();
  Reservation reservation() const { return bindings_.reservation(); }
  // RESERVED > PASSIVE_CONNECTION_PENDING. False if the EP is no longer reserved.
  bool on_request_arrived(const hca::ConnectionRequest& request);
  // The request that held the EP has ended: a reserved EP is unconnected again, a tentative one is freed.
  void give_back(Reservation held);
  // dat_cr_accept. The EP's reservation must be `held`.
  Status accept(hca::ConnectionRequest& request, Reservation held, std::span<const std::byte> private_data,
                const Communicator& communicator);

  // --- For the EP ---

  // The EP is made for that request.
  void begin_tentative(const hca::ConnectionRequest& request);
  // Counts and records what has become of the connection.
  void note(const hca::ConnectionEvent& event);
  // What the consumer hears of it.
  ConnectionNotice notice_of(const hca::ConnectionEvent& event);
  // Keeps the peer's private data until reset(). Null if there is none, or no memory. Under kEndpoint.
  const hca::Bytes* keep_locked(const hca::Bytes& private_data);
  // Under kEndpoint.
  const Peer& peer_locked() const;
  // None after a connection that the peer asked for.
  std::optional<Origin> origin() const;

 private:
  Status try_connect(const ConnectRequest& request);
  void note_peer(const Peer& peer);
  void count_ending(ConnectionResult result) const;
  [[gnu::noinline, gnu::cold]] void tell_carrier(const char* carrier) const;

  const Object& ep_;
  EndpointBindings& bindings_;
  const EndpointWords& words_;
  EndpointCounters& counters_;
  base::Mutex<locks::kModify>& modify_mutex_;
  base::Mutex<locks::kEndpoint>& mutex_;

  std::atomic<bool> is_active_{false};  // the last connection began with connect()

  // Guarded by mutex_.
  Peer peer_;
  std::optional<Origin> origin_;           // set by connect()
  std::optional<std::uint64_t> redirect_;  // the qualifier that accepted, after hand-offs
  std::vector<hca::Bytes> private_data_;   // the peer's, in events since the last reset
};

}  // namespace softdat::object
