// SPDX-License-Identifier: BSD-2-Clause
// Timeline: what a process does with its adapters, as events in its TimelineFile. The entry points tell it of calls,
// the simulated adapter of messages and completions. docs/decisions/0026-timelines.md gives the reasons.
//
// Its parts: the endpoints, and what adapters tell of them (TimelineEndpoints); the messages of one endpoint
// (TimelineMessages); the calling thread (TimelineThread).
//
// Any thread. Nothing here waits for the file or throws: what finds no memory is counted as lost.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "base/ip_address.h"
#include "base/timeline_endpoints.h"
#include "base/timeline_event.h"
#include "base/timeline_file.h"
#include "base/timeline_messages.h"
#include "base/trace_packets.h"

namespace softdat::base {

class Timeline {
 public:
  using Endpoint = TimelineEndpoints::Endpoint;
  using Kind = TimelineMessages::Kind;
  using Post = TimelineMessages::Post;

  // Returns the timeline of this process, which the first call makes and which is never destroyed. Null if
  // SOFTDAT_TIMELINE is not set, or if the file cannot be created, which is logged once.
  static Timeline* of_process();
  // The same, if it is there. In the child of a fork there is none until it opens an adapter itself.
  static Timeline* active() { return process_.load(std::memory_order_acquire); }

  explicit Timeline(TimelineOptions options);

  TimelineFile& file() { return file_; }
  // An adapter and its carrier report events of their endpoints here.
  TimelineEndpoints& endpoints() { return endpoints_; }

  // A post, before the adapter has it...
  void post(Endpoint endpoint, const Post& post);
  // ...and when the adapter has refused it. `is_full`: for want of room.
  void take_back(Endpoint endpoint, bool is_full);
  void post_receive();
  // The event of a completion is handed to the program. `is_receive`: whether it is one of a receive, if that is known.
  void dequeue(Endpoint endpoint, std::uint64_t cookie, std::optional<bool> is_receive = std::nullopt);
  // A poll that found nothing. Every other event of the calling thread ends the pause after it.
  void poll_in_vain();
  // Before another call that call() will tell of...
  void begin_call();
  // ...when it has taken some time; `value` as the name has it.
  void call(trace::Name name, std::uint64_t begun, std::uint64_t value, trace::Argument argument);
  void instant(trace::Name name);

  static std::uint64_t now() { return timeline_now(); }

  // Around each call of the program's, also around those that other functions tell of: with TimelineOptions::has_cpu,
  // the processor time of the thread between two calls becomes an event before the next one.
  void enter();
  void leave();

 private:
  static std::atomic<Timeline*> process_;
  friend void forget_timeline_in_child();

  const bool has_cpu_;
  TimelineFile file_;
  TimelineEndpoints endpoints_{file_};
};

}  // namespace softdat::base
