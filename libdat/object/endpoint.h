// SPDX-License-Identifier: BSD-2-Clause
// EP: an endpoint. It adds DAT's arguments, events and service points to a queue pair, whose state is the connection's.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "hca/datagram.h"
#include "libdat/object/endpoint_bindings.h"
#include "libdat/object/endpoint_counters.h"
#include "libdat/object/endpoint_parameters.h"
#include "libdat/object/endpoint_posts.h"
#include "libdat/object/endpoint_settings.h"
#include "libdat/object/endpoint_state.h"
#include "libdat/object/endpoint_words.h"
#include "libdat/object/event.h"
#include "libdat/object/handle_table.h"
#include "libdat/object/lock_places.h"
#include "libdat/object/object.h"
#include "libdat/object/socket_address.h"
#include "libdat/object/status.h"

namespace softdat::object {

class EventDispatcher;

// All calls from any thread. Argument numbers in a Status are those of the DAT function. Lock order: docs/THREADS.md.
class Endpoint final : public Object, private hca::QueuePairSink, private hca::DatagramSink {
 public:
  static constexpr Kind kKind = Kind::kEp;
  ~Endpoint() override;

  static Status create(InterfaceAdapter& ia, const EndpointConfig& config, Handle& ep);

  // dat_ep_free. Allowed in every state, unless a service point holds the EP. Ends a live connection.
  static Status free(Pin<Endpoint> ep);

  // The data path.
  EndpointPosts posts() { return {bindings_, words_}; }

  // dat_ib_ud_cm_free: ends the exchange of a DatagramNotice. INVALID_PARAMETER if there is no such exchange.
  Status end_exchange(std::uint64_t exchange);

  // How it is modified.
  EndpointSettings& settings() { return settings_; }
  // What it counts.
  EndpointCounters& counters() { return counters_; }
  // What it says of failures.
  const EndpointWords& words() const { return words_; }
  Status connect(const ConnectRequest& request);  // dat_ep_connect
  // dat_ep_dup_connect: connects to the service that `model` was connected to, after hand-offs. Uses the time-out,
  // private data and quality of `request` only.
  Status connect_like(const Endpoint& model, ConnectRequest request);
  Status disconnect(bool is_graceful);  // dat_ep_disconnect
  Status reset();                       // dat_ep_reset
  // The queues of receives and completions. Never waits for a lock: nothing if another call holds it.
  struct Feeds {
    Handle srq = nullptr, recv_evd = nullptr, request_evd = nullptr;
  };
  std::optional<Feeds> feeds() const;
  EndpointStatus status() const;     // dat_ep_get_status
  EndpointParameters query() const;  // dat_ep_query
  ReceiveUse receive_use() const;    // dat_ep_recv_query

  // --- For service points and connection requests ---

  EndpointState state() const { return bindings_.state(); }
  // UNCONNECTED > RESERVED, and back; INVALID_STATE otherwise.
  Status reserve();
  void release_reservation();
  // The request that held the EP has ended: a reserved EP is unconnected again, a tentative one is freed.
  void give_back(Reservation held);
  // RESERVED > PASSIVE_CONNECTION_PENDING. False if the EP is no longer reserved.
  bool on_request_arrived(const hca::ConnectionRequest& request);
  // Creates a tentative EP for a request: no PZ, no EVDs, attributes that match the request. Null without resources.
  static std::shared_ptr<Endpoint> create_tentative(InterfaceAdapter& ia, const hca::ConnectionRequest& request);
  Reservation reservation() const { return bindings_.reservation(); }
  // dat_cr_accept. The EP's reservation must be `held`.
  Status accept(hca::ConnectionRequest& request, Reservation held, std::span<const std::byte> private_data,
                const Communicator& communicator);

 private:
  // The arguments of the connect().
  struct Origin {
    hca::Address remote;
    std::uint64_t conn_qual;
    std::uint32_t flags;
    Communicator communicator;
  };

  explicit Endpoint(InterfaceAdapter& ia);

  // hca::QueuePairSink
  void on_connection_event(const hca::ConnectionEvent& event) override;
  std::string on_failure(const hca::Failure& failure) override { return words_.tell(failure); }
  void on_recv_limit() override { settings_.tell_soft_watermark(); }
  // hca::DatagramSink
  void on_datagram_event(const hca::DatagramEvent& event) override;
  // Object
  void detach() override;

  [[gnu::noinline, gnu::cold]] void tell_carrier(const char* carrier);
  void count_ending(ConnectionResult result);
  ConnectionNotice notice_of_locked(const hca::ConnectionEvent& event);
  const hca::Bytes* keep_locked(const hca::Bytes& private_data);
  DatagramNotice make_notice(const hca::DatagramEvent& event);
  void tell_exchange(const hca::DatagramEvent& event) const;
  void note_peer(hca::Address address, std::uint64_t port_qual, const Communicator& communicator = {});
  Status try_connect(const ConnectRequest& request);

  void report_end(const hca::ConnectionEvent& event);

  EndpointBindings bindings_;
  EndpointWords words_{*this, bindings_};
  std::atomic<bool> is_active_{false};  // the last connection began with connect()
  EndpointCounters counters_{*this, bindings_, mutex_};
  EndpointSettings settings_{*this, {*this, *this}, bindings_, words_, modify_mutex_, mutex_};

  // Held by modify(), connect(), accept() and reset(), so that none uses a binding that another replaces. Taken before
  // mutex_, an EVD's lock and the device's locks.
  base::Mutex<locks::kModify> modify_mutex_;

  // Guarded by mutex_ (held briefly; no other object is called meanwhile).
  mutable base::Mutex<locks::kEndpoint> mutex_;
  std::uint64_t remote_port_qual_ = 0;
  std::uint64_t last_exchange_ = 0;
  std::set<std::uint64_t> exchanges_;  // those that the consumer has not ended
  SocketAddress remote_address_{};
  Communicator communicator_;
  std::optional<Origin> origin_;           // set by connect()
  std::optional<std::uint64_t> redirect_;  // the qualifier that accepted, after hand-offs
  std::vector<hca::Bytes> private_data_;   // the peer's, in events since the last reset
};

}  // namespace softdat::object
