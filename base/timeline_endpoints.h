// SPDX-License-Identifier: BSD-2-Clause
// TimelineEndpoints: the endpoints of a process, their tracks and connections in the timeline, and what their adapters
// tell of them.
//
// A member of its Timeline; `file` must outlive it. Any thread.
#pragma once

#include <cstdint>
#include <map>
#include <new>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/ip_address.h"
#include "base/lock_places.h"
#include "base/timeline_event.h"
#include "base/timeline_file.h"
#include "base/timeline_messages.h"

namespace softdat::base {

class TimelineEndpoints {
 public:
  // The handle of an endpoint: the context of its queue pair, which completions carry, too.
  using Endpoint = std::uint64_t;
  using Kind = TimelineMessages::Kind;

  explicit TimelineEndpoints(TimelineFile& file) : file_(file) {}

  // The endpoint has a queue pair with this address and a port of its own, or a datagram queue pair, which shares its
  // address. Must run before any other call about the endpoint, or that call does nothing.
  void bind(Endpoint endpoint, const IpAddress& own);
  void bind(Endpoint endpoint);

  // Connections. Flows are numbered from the two addresses, which both sides know, and from the messages of each kind.
  void connecting(const IpAddress& own);
  void established(const IpAddress& own, const IpAddress& peer, bool is_initiator);
  void ended(const IpAddress& own, bool is_broken);

  // Messages. One is handed over, or has been placed at that time; one waits for a receive, or for room.
  void wire(const IpAddress& own, Kind kind);
  void place(const IpAddress& own, Kind kind, std::uint64_t bytes, std::uint64_t time);
  void lack_receive(const IpAddress& own);
  void lack_room(const IpAddress& own);
  void complete(Endpoint endpoint, const TimelineMessages::Completion& completion);

  // Posts and events of the program, which Timeline tells. They return the flow; 0: none, or the endpoint is not bound.
  // post() throws std::bad_alloc.
  std::uint64_t post(Endpoint endpoint, const TimelineMessages::Post& post);
  void take_back(Endpoint endpoint);
  std::uint64_t dequeue(Endpoint endpoint, std::uint64_t cookie, std::optional<bool> is_receive);

  // In the child of a fork, where another thread of the parent's may have held the lock.
  void leave_to_parent() { new (&mutex_) Mutex<locks::kTimeline>; }

 private:
  struct State {
    std::uint32_t track = 0;
    TimelineMessages messages{};
  };

  // Null: it is not bound. REQUIRE the lock.
  State* find(Endpoint endpoint);
  State* find(const IpAddress& own);
  // Calls `body` with the state of the endpoint that has this address, if there is one.
  template <typename Body>
  void tell(const IpAddress& own, Body body);

  TimelineFile& file_;
  Mutex<locks::kTimeline> mutex_;  // guards what follows; the file's is taken under it
  std::unordered_map<Endpoint, State> states_;
  std::uint64_t bound_ = 0;                                               // endpoints so far
  std::map<IpAddress, Endpoint> endpoints_;                               // by the addresses of their queue pairs
  std::map<std::pair<IpAddress, IpAddress>, std::uint32_t> connections_;  // how many there have been between these
};

}  // namespace softdat::base
