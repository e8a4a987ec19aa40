// SPDX-License-Identifier: BSD-2-Clause
// The endpoints that are measured, their queues, and the memory that their messages leave from and land in. Both sides
// have the same layout, so that an offset here is one there.
//
// Messages of a side are numbered from 0; number n goes over endpoint n % active. Without verifying, all messages share
// one place in memory on each side, as in other benchmarks; with it, each that is in flight has one of its own.
#pragma once

#include <dat2/udat.h>

#include <cstdint>
#include <deque>
#include <vector>

#include "tools/softdat/perf/adapter.h"
#include "tools/softdat/perf/event_queue.h"
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

  const Region& memory() const { return memory_; }
  const Setup& setup() const { return setup_; }
  EventQueue& requests() { return requests_; }
  EventQueue& receives() { return receives_; }
  // Queues that serve no endpoint, so that `Setup::event_queues` are polled together with requests().
  std::deque<EventQueue>& idle_queues() { return idle_queues_; }
  std::uint32_t lane_of(std::uint64_t number) const { return active_ == 1 ? 0 : number % active_; }
  std::uint64_t turn_of(std::uint64_t number) const { return active_ == 1 ? number : number / active_; }
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

  // Where message `number` leaves from and lands, on this side.
  std::uint8_t* outgoing(std::uint64_t number) const { return memory_.data() + outgoing_offset(number); }
  std::uint8_t* incoming(std::uint64_t number) const { return memory_.data() + incoming_offset(number); }
  // Places for messages, each way; and where the messages of one leave from and land.
  std::uint64_t place_count() const { return places_; }
  std::uint8_t* outgoing_slot(std::uint64_t slot) const { return memory_.data() + slot * slot_size_; }
  std::uint8_t* incoming_slot(std::uint64_t slot) const { return memory_.data() + (places_ + slot) * slot_size_; }
  // The word that the other side's atomics on endpoint `lane` work upon.
  std::uint64_t& word(std::uint32_t lane) const;
  // Which place that is. Different for any two messages that are in flight at once, when verifying.
  std::uint64_t slot_of(std::uint64_t number) const;

 private:
  void create_endpoints(const Adapter& adapter);
  void await_established(const LivenessCheck& check);
  void post_atomic(const Post& request) const;
  std::size_t outgoing_offset(std::uint64_t number) const { return slot_of(number) * slot_size_; }
  std::size_t incoming_offset(std::uint64_t number) const { return (places_ + slot_of(number)) * slot_size_; }
  std::size_t word_offset(std::uint32_t lane) const;

  const Setup setup_;
  const std::uint32_t active_;
  const std::size_t slot_size_;
  const std::uint64_t slots_;   // places of each endpoint, each way
  const std::uint64_t places_;  // of all endpoints together, each way
  Region memory_;
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
