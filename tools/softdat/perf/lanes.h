// SPDX-License-Identifier: BSD-2-Clause
// Lanes: the endpoints that are measured, their connections, their queues and the posting of their messages. Where a
// message lies in memory, MessagePlaces says.
//
// Owned by the client or the server of a measurement; the Adapter must outlive it. One thread calls. Failure is thrown
// for each call of DAT that is refused.
#pragma once

#include <dat2/udat.h>

#include <cstdint>
#include <deque>
#include <vector>

#include "tools/softdat/perf/adapter.h"
#include "tools/softdat/perf/event_queue.h"
#include "tools/softdat/perf/message_places.h"
#include "tools/softdat/perf/plan.h"

namespace softdat::tools::perf {

// Which endpoint a completion belongs to, and for how many requests it stands.
struct Credit {
  std::uint32_t lane;
  std::uint32_t requests;
};

// A request, ready to be posted.
struct Post {
  Operation operation;
  DAT_EP_HANDLE ep;
  DAT_LMR_TRIPLET segment;
  DAT_RMR_TRIPLET remote;
  DAT_DTO_COOKIE cookie;
  DAT_COMPLETION_FLAGS flags;
  std::uint64_t number;
};

class Lanes {
 public:
  Lanes(const Adapter& adapter, const Setup& setup);

  void connect(DAT_IA_ADDRESS_PTR address, DAT_CONN_QUAL qual, const LivenessCheck& check);
  // Accepts all endpoints of the other side, which come in order.
  void accept(EventQueue& connection_requests, const LivenessCheck& check);
  void set_remote(const DAT_RMR_TRIPLET& remote) { remote_ = remote; }

  const MessagePlaces& places() const { return places_; }
  const Setup& setup() const { return setup_; }
  EventQueue& requests() { return requests_; }
  EventQueue& receives() { return receives_; }
  // Queues that serve no endpoint, so that `Setup::event_queues` are polled together with requests().
  std::deque<EventQueue>& idle_queues() { return idle_queues_; }
  // Messages of one endpoint that may be in flight, and receives that may be posted to it.
  std::uint32_t largest_window() const;
  std::uint32_t largest_receives() const;

  // Gives the next message of the other side with this number a place to land.
  void post_receive(std::uint64_t number, std::uint64_t size);
  // `credits` 0: a success adds no completion. Failure if it is refused.
  void post(Operation operation, std::uint64_t number, std::uint64_t size, std::uint32_t credits);
  // The same in two steps, the first of which may be taken ahead of time.
  Post prepare(Operation operation, std::uint64_t number, std::uint64_t size, std::uint32_t credits) const;
  void post(Post& request) const;
  static Credit credit_of(const DAT_DTO_COMPLETION_EVENT_DATA& completion) {
    return {static_cast<std::uint32_t>(completion.user_cookie.as_64 >> 32),
            static_cast<std::uint32_t>(completion.user_cookie.as_64)};
  }

 private:
  void create_endpoints(const Adapter& adapter);
  void await_established(const LivenessCheck& check);
  void post_atomic(const Post& request) const;

  const Setup setup_;
  MessagePlaces places_;
  EventQueue requests_;
  EventQueue receives_;
  EventQueue connections_;
  std::deque<EventQueue> idle_queues_;
  std::vector<DAT_EP_HANDLE> endpoints_;
  DAT_RMR_TRIPLET remote_{};
};

// An endpoint with both queues `depth` deep that reads and writes as much as the adapter lets it.
DAT_EP_HANDLE create_endpoint(const Adapter& adapter, DAT_COUNT depth, EventQueue& receives, EventQueue& requests,
                              EventQueue& connections);

}  // namespace softdat::tools::perf
