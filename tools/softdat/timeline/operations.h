// SPDX-License-Identifier: BSD-2-Clause
// Operations of a timeline: what became of each post, on both sides, and what it waited for.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tools/softdat/timeline/trace.h"

namespace softdat::tools::timeline {

struct Span {
  std::uint64_t begin = 0, end = 0;
  std::uint64_t length() const { return end > begin ? end - begin : 0; }
};

// What a thread did in a while.
struct Call {
  Span span;
  base::trace::Name name = base::trace::Name::kEvdWait;
  std::uint32_t sleeps = 0;
};

enum class Reason : std::uint8_t { kNone, kReceive, kRoom, kPeerPoll, kWakeUp, kOwnPoll };
std::string_view text_of(Reason reason);

// Times are 0 where the timeline does not tell.
struct Operation {
  std::uint64_t flow = 0;
  std::uint64_t posted = 0, wire = 0, lacking = 0, placed = 0;
  std::uint64_t completed = 0, dequeued = 0;            // by the one that posted it
  std::uint64_t peer_completed = 0, peer_dequeued = 0;  // the receive that it took
  std::uint32_t bytes = 0;
  std::uint32_t thread = 0, endpoint = 0, peer = 0,
                peer_thread = 0;  // lanes; the thread that posted, the one that dequeued
  std::uint32_t dequeuer = 0;
  base::trace::Name name = base::trace::Name::kPostSend;
  bool is_alone = false;  // between its post and its dequeue the thread did nothing else
  std::uint64_t end() const;
  std::uint64_t length() const { return end() > posted ? end() - posted : 0; }
};

struct Activity {
  std::vector<Operation> operations;              // by the time of their posts
  std::vector<std::vector<Call>> calls;           // of each lane that is a thread, by time
  std::vector<std::vector<std::uint64_t>> looks;  // when each thread took an event, by time
  std::vector<Span> room;                         // from a refused post to the next one of the thread
  std::vector<std::uint64_t> first_post;          // of each thread; 0: none
  Span whole;
};

Activity read_activity(const Trace& trace);

// The call of the thread that was under way at that time; null: none.
const Call* call_at(const Activity& activity, std::uint32_t thread, std::uint64_t time);
bool is_wait(const Call& call);
// What a thread does that has not taken what is there.
enum class Doing : std::uint8_t { kOther, kPause, kSleep };
Doing doing_at(const Activity& activity, std::uint32_t thread, std::uint64_t time);
// When the thread took its next event, from that time on; 0: never.
std::uint64_t next_look(const Activity& activity, std::uint32_t thread, std::uint64_t time);

// What took most of an operation's time, and how long.
struct Delay {
  Reason reason = Reason::kNone;
  std::uint64_t length = 0;
};
Delay longest_delay(const Activity& activity, const Operation& operation);

}  // namespace softdat::tools::timeline
