// SPDX-License-Identifier: BSD-2-Clause
// Timeline: what a process does with its adapters, as events in its TimelineFile. The entry points tell it of calls,
// the simulated adapter of messages and completions. docs/decisions/0026-timelines.md gives the reasons.
//
// Any thread. Nothing here waits for the file or throws: what finds no memory is counted as lost.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/ip_address.h"
#include "base/lock_places.h"
#include "base/timeline_file.h"
#include "base/trace_packets.h"

namespace softdat::base {

class Timeline {
 public:
  // What the creator of a queue pair gave it, which completions have, too: the endpoint's handle.
  using Endpoint = std::uint64_t;

  // Returns the timeline of this process, which the first call makes and which is never destroyed. Null if
  // SOFTDAT_TIMELINE is not set, or if the file cannot be created, which is logged once.
  static Timeline* of_process();
  // The same, if it is there. In the child of a fork there is none until it opens an adapter itself.
  static Timeline* active() { return process_.load(std::memory_order_acquire); }

  explicit Timeline(TimelineOptions options);

  TimelineFile& file() { return file_; }
  const TimelineFile& file() const { return file_; }

  // The endpoint has a queue pair with this address (its port is its own), or one for datagrams, whose address others
  // have, too. Nothing is told of an endpoint before.
  void bind(Endpoint endpoint, const IpAddress& own);
  void bind(Endpoint endpoint);

  // Connections. Flows are numbered from the two addresses, which both sides know, and from the messages of each kind.
  void connecting(const IpAddress& own);
  void established(const IpAddress& own, const IpAddress& peer, bool is_initiator);
  void ended(const IpAddress& own, bool is_broken);

  // Messages of a kind are numbered, on both sides alike.
  enum class Kind : std::uint8_t { kWrite, kSend, kRead, kAtomic };  // kSend: all that take a receive
  struct Post {
    Kind kind = Kind::kSend;
    std::uint64_t cookie = 0;
    std::uint64_t bytes = 0;
    bool is_silent = false;     // its success makes no event
    bool writes_first = false;  // a write with immediate data: a write, and what takes a receive
  };
  // Before the adapter has it...
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

  // Events of a simulated adapter, which its carrier reports.
  void wire(const IpAddress& own, Kind kind);
  void place(const IpAddress& own, Kind kind, std::uint64_t bytes, std::uint64_t time);
  void lack_receive(const IpAddress& own);
  void lack_room(const IpAddress& own);
  struct Completion {
    std::uint64_t cookie = 0;
    bool is_receive = false;
    bool is_success = true;
  };
  void complete(Endpoint endpoint, const Completion& completion);

  static std::uint64_t now();

  // Around each call of the program's, also around those that other functions tell of: with has_cpu, the processor time
  // of the thread between two calls becomes an event before the next one. A short time after a poll that found nothing
  // belongs to the loop that polls, and is not told.
  void enter();
  void leave();

 private:
  struct Pending {
    std::uint64_t cookie = 0;
    std::uint64_t flow = 0;
    bool is_silent = false;
    bool is_receive = false;
    Kind kind = Kind::kSend;
    bool writes_first = false;
    bool is_sent = false;
  };
  struct State {
    std::uint32_t track = 0;
    std::uint32_t connection = 0;  // a number that both sides have; 0: none
    bool is_initiator = false;
    std::array<std::uint32_t, 4> posted{};  // since it was connected, by kind
    std::array<std::uint32_t, 4> placed{};  // of the peer's
    std::uint32_t received = 0;
    std::deque<Pending> sends{};                        // posted and not completed
    std::uint64_t first_send = 0;                       // number of the first of these
    std::array<std::deque<std::uint64_t>, 4> unsent{};  // numbers of sends that are not handed over, by kind
    std::deque<Pending> ready{};                        // completed and not dequeued
  };

  template <typename Body>
  void record(Body body);
  // The functions from here to take_completed(): with the mutex. Null: it is not bound.
  State* state_of(Endpoint endpoint);
  State* state_at(const IpAddress& own);
  static void add_send(State& state, const Pending& pending);
  static void take_back_send(State& state);
  static void drop_sends(State& state, std::size_t count);
  static Pending* take_unsent(State& state, Kind kind);
  static std::uint64_t flow_of(const State& state, bool is_own, Kind kind, std::uint32_t number);
  static Pending take_completed(State& state, const Completion& completion);
  void add(std::uint32_t track, trace::Name name, std::uint64_t flow = 0,
           trace::Argument argument = trace::Argument::kNone, std::uint64_t value = 0);
  std::uint32_t thread_track();
  void end_pause();
  void tell_computed();

  static std::atomic<Timeline*> process_;
  friend void forget_timeline_in_child();

  const bool has_cpu_;
  TimelineFile file_;
  Mutex<locks::kTimeline> mutex_;  // guards what follows; file_'s is taken under it
  std::unordered_map<Endpoint, State> states_;
  std::uint64_t bound_ = 0;                                               // endpoints so far
  std::map<IpAddress, Endpoint> endpoints_;                               // by the addresses of their queue pairs
  std::map<std::pair<IpAddress, IpAddress>, std::uint32_t> connections_;  // how many there have been between these
};

}  // namespace softdat::base
