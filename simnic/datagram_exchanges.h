// SPDX-License-Identifier: BSD-2-Clause
// DatagramExchanges: the exchanges that a datagram queue pair has made, each with its link, and the sink that hears
// once how each of them ended.
//
// Owns the links, together with the address handles that came of them. Reserves a place in the upcall queue for each
// exchange that is under way, and one for the end of them all, so that both can be told without memory.
//
// Threads: with the baton. Errors: std::bad_alloc, without any effect, from connect() and accept().
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "hca/datagram.h"
#include "simnic/connect_attempt.h"
#include "simnic/datagram_link.h"
#include "simnic/datagram_switch.h"

namespace softdat::simnic {

class Engine;

class DatagramExchanges {
 public:
  // `owner`: of the upcalls.
  DatagramExchanges(Engine& engine, DatagramSwitch& datagrams, const void* owner, hca::DatagramSink& sink)
      : engine_(engine), datagrams_(datagrams), owner_(owner), sink_(sink) {}

  // Starts an exchange. `on_end` hears of its end, and then calls tell().
  void connect(std::unique_ptr<ConnectAttempt> attempt, DatagramLinkSink& on_end);
  // Answers a peer that has asked for an exchange. Tells the sink at once if the peer has gone.
  void accept(transport::InboundRequest& request, const transport::Offer& reply, DatagramLinkSink& on_end);
  // Returns the event of an exchange that has ended in this way. Without memory for the address handle, a success
  // becomes a failure.
  hca::DatagramEvent describe_end(DatagramLink& link, hca::ConnectionEventType type,
                                  std::span<const std::byte> private_data) const;
  void tell(hca::DatagramEvent event);
  // An exchange has begun, and the sink will hear how it ended.
  bool is_any_under_way() const { return promised_ > 0; }
  // Lets go of all links. The sink hears of no exchange that has not ended yet.
  void release();
  // Hands over the place reserved for an upcall that no exchange is left. False: no exchange has begun since the last
  // call.
  bool take_place_for_end() { return std::exchange(has_place_for_end_, false); }

 private:
  DatagramLink& make_link(DatagramLinkSink& on_end);
  void drop_newest_link();

  // Fixed after construction.
  Engine& engine_;
  DatagramSwitch& datagrams_;
  const void* const owner_;
  hca::DatagramSink& sink_;
  // Owned by the baton.
  std::vector<std::shared_ptr<DatagramLink>> links_;
  std::size_t promised_ = 0;  // reserved places: one for each exchange without an outcome yet
  bool has_place_for_end_ = false;
};

}  // namespace softdat::simnic
