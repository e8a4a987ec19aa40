// SPDX-License-Identifier: BSD-2-Clause
// EP: an endpoint. It adds DAT's arguments, events and service points to a queue pair, whose state is the connection's.
//
// The EP is made of parts, one for each concern, that it owns by value and gives out. Each says in its header what it
// does, which lock guards it and what it refuses: bindings (state), words, posts, counters, settings, connection,
// exchanges. The EP itself is the handle's object and the sink of its queue pairs.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "hca/datagram.h"
#include "libdat/object/endpoint_bindings.h"
#include "libdat/object/endpoint_connection.h"
#include "libdat/object/endpoint_counters.h"
#include "libdat/object/endpoint_exchanges.h"
#include "libdat/object/endpoint_parameters.h"
#include "libdat/object/endpoint_posts.h"
#include "libdat/object/endpoint_settings.h"
#include "libdat/object/endpoint_state.h"
#include "libdat/object/endpoint_words.h"
#include "libdat/object/handle_table.h"
#include "libdat/object/lock_places.h"
#include "libdat/object/object.h"
#include "libdat/object/status.h"

namespace softdat::object {

// All calls from any thread. Argument numbers in a Status are those of the DAT function. Lock order: docs/THREADS.md.
class Endpoint final : public Object, private hca::QueuePairSink, private hca::DatagramSink {
 public:
  static constexpr Kind kKind = Kind::kEp;
  ~Endpoint() override;

  static Status create(InterfaceAdapter& ia, const EndpointConfig& config, Handle& ep);

  // dat_ep_free. Allowed in every state, unless a service point holds the EP. Ends a live connection.
  static Status free(Pin<Endpoint> ep);

  // The parts. They last as long as the EP.
  EndpointPosts posts() { return {bindings_, words_}; }
  const EndpointWords& words() const { return words_; }
  EndpointCounters& counters() { return counters_; }
  EndpointSettings& settings() { return settings_; }
  EndpointConnection& connection() { return connection_; }
  const EndpointConnection& connection() const { return connection_; }
  EndpointExchanges& exchanges() { return exchanges_; }

  // The queues of receives and completions. Never waits for a lock: nothing if another call holds it.
  struct Feeds {
    Handle srq = nullptr, recv_evd = nullptr, request_evd = nullptr;
  };
  std::optional<Feeds> feeds() const;
  EndpointStatus status() const;     // dat_ep_get_status
  EndpointParameters query() const;  // dat_ep_query
  ReceiveUse receive_use() const;    // dat_ep_recv_query

  EndpointState state() const { return bindings_.state(); }
  // Creates a tentative EP for a request: no PZ, no EVDs, attributes that match the request. Null without resources.
  static std::shared_ptr<Endpoint> create_tentative(InterfaceAdapter& ia, const hca::ConnectionRequest& request);

 private:
  explicit Endpoint(InterfaceAdapter& ia);

  // hca::QueuePairSink
  void on_connection_event(const hca::ConnectionEvent& event) override;
  std::string on_failure(const hca::Failure& failure) override { return words_.tell(failure); }
  void on_recv_limit() override { settings_.tell_soft_watermark(); }
  // hca::DatagramSink
  void on_datagram_event(const hca::DatagramEvent& event) override;
  // Object
  void detach() override;

  void report_end(const hca::ConnectionEvent& event);

  // Held while the binding is replaced or a connection is begun or reset, so that none uses a binding that another
  // replaces. Taken before mutex_, an EVD's lock and the device's locks.
  base::Mutex<locks::kModify> modify_mutex_;

  // Guards what query() tells, and the list of bindings. Held briefly; no other object is called meanwhile, except that
  // queue pairs tell their counts.
  mutable base::Mutex<locks::kEndpoint> mutex_;

  EndpointBindings bindings_{modify_mutex_, mutex_};
  EndpointWords words_{*this, bindings_};
  EndpointCounters counters_{*this, bindings_, mutex_};
  EndpointSettings settings_{*this, {*this, *this}, bindings_, words_, modify_mutex_, mutex_};
  EndpointConnection connection_{*this, bindings_, words_, counters_, modify_mutex_, mutex_};
  EndpointExchanges exchanges_{*this, connection_, words_, mutex_};
};

}  // namespace softdat::object
