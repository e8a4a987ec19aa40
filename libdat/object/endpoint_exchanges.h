// SPDX-License-Identifier: BSD-2-Clause
// The exchanges of an EP for datagrams: each brings the address handle of a peer, and lasts until the consumer ends it.
//
// Owned by the EP. Any thread. The list is guarded by the lock of the EP, which is handed in.
#pragma once

#include <cstdint>
#include <set>

#include "hca/datagram.h"
#include "libdat/object/endpoint_connection.h"
#include "libdat/object/endpoint_words.h"
#include "libdat/object/event.h"
#include "libdat/object/lock_places.h"
#include "libdat/object/object.h"
#include "libdat/object/status.h"

namespace softdat::object {

class EventDispatcher;

class EndpointExchanges {
 public:
  // All outlive this object.
  EndpointExchanges(const Object& ep, EndpointConnection& connection, const EndpointWords& words,
                    base::Mutex<locks::kEndpoint>& mutex)
      : ep_(ep), connection_(connection), words_(words), mutex_(mutex) {}

  // Tells the consumer of an exchange, or why there is none. Without room in the EVD its address handle is freed.
  void begin(const hca::DatagramEvent& event, EventDispatcher& evd);
  // dat_ib_ud_cm_free: ends the exchange of a DatagramNotice. INVALID_PARAMETER if there is no such exchange.
  Status end(std::uint64_t exchange);

 private:
  DatagramNotice make_notice(const hca::DatagramEvent& event);
  void tell_failure(const hca::DatagramEvent& event) const;

  const Object& ep_;
  EndpointConnection& connection_;
  const EndpointWords& words_;
  base::Mutex<locks::kEndpoint>& mutex_;

  // Guarded by mutex_.
  std::uint64_t last_ = 0;
  std::set<std::uint64_t> open_;  // those that the consumer has not ended
};

}  // namespace softdat::object
