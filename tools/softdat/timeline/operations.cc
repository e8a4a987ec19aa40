// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/timeline/operations.h"

#include <algorithm>

namespace softdat::tools::timeline {
namespace {

using base::trace::Name;
using base::trace::Type;

bool is_post(Name name) {
  return name >= Name::kPostSend && name <= Name::kPostAtomic && name != Name::kPostReceive;
}

// Events come in order of time. Those of one operation have one flow number, on both sides.
class Builder {
 public:
  explicit Builder(const Trace& trace) : trace_(trace), threads_(trace.lanes.size()) {
    activity_.calls.resize(trace.lanes.size());
    activity_.looks.resize(trace.lanes.size());
    activity_.first_post.resize(trace.lanes.size());
  }

  Activity build() {
    activity_.whole = {trace_.events.front().time, trace_.events.back().time};
    for (const Event& event : trace_.events) take(event);
    return std::move(activity_);
  }

 private:
  static constexpr std::size_t kNone = SIZE_MAX;
  struct Thread {
    std::vector<Event> open;        // slices
    std::uint64_t refused = 0;      // since when posts are
    std::size_t last_post = kNone;  // index of an operation, if nothing else came since
  };

  void take(const Event& event) {
    if (event.type == Type::kBegin) return open(event);
    if (event.type == Type::kEnd) return close(event);
    if (is_post(event.name)) return post(event);
    if (event.name == Name::kDequeue) activity_.looks[event.lane].push_back(event.time);
    if (event.name == Name::kPostRefused && threads_[event.lane].refused == 0) {
      threads_[event.lane].refused = event.time;
    }
    // A dequeue that belongs to no known operation still ends "alone": the thread has done something else.
    const auto found = event.flow == 0 ? known_.end() : known_.find(event.flow);
    if (found != known_.end()) {
      follow(event, found->second);
    } else if (event.name == Name::kDequeue) {
      threads_[event.lane].last_post = kNone;
    }
  }

  void open(const Event& event) {
    auto& stack = threads_[event.lane].open;
    // Slices nest a little in practice; a damaged file must not take all memory.
    if (stack.size() < 16) stack.push_back(event);
  }

  void close(const Event& event) {
    auto& stack = threads_[event.lane].open;
    if (stack.empty()) return;
    const Event begun = stack.back();
    stack.pop_back();
    activity_.calls[event.lane].push_back(
        {.span = {begun.time, event.time}, .name = begun.name, .sleeps = event.value});
  }

  void post(const Event& event) {
    Thread& thread = threads_[event.lane];
    if (thread.refused != 0) activity_.room.push_back({thread.refused, event.time});
    thread.refused = 0;
    if (activity_.first_post[event.lane] == 0) activity_.first_post[event.lane] = event.time;
    thread.last_post = activity_.operations.size();
    if (event.flow != 0) known_[event.flow] = activity_.operations.size();
    activity_.operations.push_back(
        {.flow = event.flow, .posted = event.time, .bytes = event.value, .thread = event.lane, .name = event.name});
  }

  // The same number may come again on the other side, which has a lane of another process.
  void follow(const Event& event, std::size_t index) {
    Operation& operation = activity_.operations[index];
    const bool is_own = process_of(event.lane) == process_of(operation.thread) &&
                        (event.name == Name::kDequeue || operation.endpoint == 0 || event.lane == operation.endpoint);
    switch (event.name) {
      case Name::kWire:
        operation.wire = event.time;
        operation.endpoint = event.lane;
        break;
      case Name::kNoReceive:
        if (operation.lacking == 0) operation.lacking = event.time;
        break;
      case Name::kPlace:
        operation.placed = event.time;
        if (operation.wire == 0) operation.endpoint = event.lane;
        if (operation.wire != 0) operation.peer = event.lane;
        break;
      case Name::kComplete:
      case Name::kCompleteError:
        (is_own && operation.completed == 0 && event.lane != operation.peer ? operation.completed
                                                                            : operation.peer_completed) = event.time;
        break;
      case Name::kDequeue:
        take_dequeue(event, operation, index, is_own);
        break;
      default:
        break;
    }
  }

  void take_dequeue(const Event& event, Operation& operation, std::size_t index, bool is_own) {
    Thread& thread = threads_[event.lane];
    if (is_own && operation.completed != 0 && operation.dequeued == 0) {
      operation.dequeued = event.time;
      operation.dequeuer = event.lane;
      operation.is_alone = thread.last_post == index;
    } else {
      operation.peer_dequeued = event.time;
      operation.peer_thread = event.lane;
    }
    thread.last_post = kNone;
  }

  std::uint32_t process_of(std::uint32_t lane) const { return trace_.lanes[lane].process; }

  const Trace& trace_;
  Activity activity_;
  std::vector<Thread> threads_;
  std::unordered_map<std::uint64_t, std::size_t> known_;
};

}  // namespace

std::string_view text_of(Reason reason) {
  switch (reason) {
    case Reason::kNone:
      break;
    case Reason::kReceive:
      return "waited for a receive";
    case Reason::kRoom:
      return "waited for room in the queue";
    case Reason::kPeerPoll:
      return "waited for the peer's poll";
    case Reason::kWakeUp:
      return "waited for a wake-up";
    case Reason::kOwnPoll:
      return "waited for its own poll";
  }
  return "took its time";
}

std::uint64_t Operation::end() const {
  return std::max({posted, wire, placed, completed, dequeued, peer_completed, peer_dequeued});
}

Activity read_activity(const Trace& trace) {
  return Builder(trace).build();
}

// REQUIRES: the calls of a thread do not overlap, which holds because a thread makes one call at a time.
const Call* call_at(const Activity& activity, std::uint32_t thread, std::uint64_t time) {
  const auto& calls = activity.calls[thread];
  const auto after = std::ranges::upper_bound(calls, time, {}, [](const Call& call) { return call.span.begin; });
  if (after == calls.begin()) return nullptr;
  const Call& before = *std::prev(after);
  return before.span.end >= time ? &before : nullptr;
}

bool is_wait(const Call& call) {
  return call.name == Name::kEvdWait || call.name == Name::kCnoWait;
}

Doing doing_at(const Activity& activity, std::uint32_t thread, std::uint64_t time) {
  const Call* const call = call_at(activity, thread, time);
  if (call == nullptr) return Doing::kOther;
  if (call->name == Name::kPause) return Doing::kPause;
  return is_wait(*call) && call->sleeps > 0 ? Doing::kSleep : Doing::kOther;
}

std::uint64_t next_look(const Activity& activity, std::uint32_t thread, std::uint64_t time) {
  const auto& looks = activity.looks[thread];
  const auto found = std::ranges::lower_bound(looks, time);
  return found == looks.end() ? 0 : *found;
}

// Weighs each stage of the operation's way; the longest one is what the page names.
Delay longest_delay(const Activity& activity, const Operation& operation) {
  Delay longest;
  const auto weigh = [&](Reason reason, std::uint64_t from, std::uint64_t to) {
    if (from != 0 && to > from && to - from > longest.length) longest = {reason, to - from};
  };
  const auto weigh_look = [&](std::uint32_t thread, std::uint64_t completed, std::uint64_t dequeued, bool is_peer) {
    if (completed == 0 || dequeued == 0) return;
    const bool is_asleep = doing_at(activity, thread, completed) == Doing::kSleep;
    weigh(is_asleep ? Reason::kWakeUp : is_peer ? Reason::kPeerPoll : Reason::kOwnPoll, completed, dequeued);
  };
  weigh(Reason::kReceive, operation.lacking, operation.placed);
  weigh(Reason::kRoom, operation.posted, operation.wire);
  if (operation.lacking == 0) {
    const bool is_asleep = doing_at(activity, operation.peer_thread, operation.wire) == Doing::kSleep;
    weigh(is_asleep ? Reason::kWakeUp : Reason::kPeerPoll, operation.wire, operation.placed);
  }
  weigh_look(operation.dequeuer, operation.completed, operation.dequeued, false);
  weigh_look(operation.peer_thread, operation.peer_completed, operation.peer_dequeued, true);
  return longest;
}

}  // namespace softdat::tools::timeline
