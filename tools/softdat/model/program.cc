// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/model/program.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace softdat::tools::model {
namespace {

using base::trace::Name;
using timeline::Event;
using timeline::Trace;

class Builder {
 public:
  explicit Builder(const Trace& trace) : trace_(trace) {}

  Program build() {
    // In the order of time. Threads are lanes that post and dequeue; a message's flow number ties its post to its way,
    // its completion and the event of the receive that it takes.
    for (const Event& event : trace_.events) take(event);
    for (Lane& lane : lanes_) {
      // Refused posts, and those whose number another post took over, have no message and no event.
      std::erase_if(lane.thread.steps, [&](const Step& step) { return is_dropped_[step.operation]; });
      if (!lane.thread.steps.empty()) {
        lane.thread.steps.front().computed = 0;  // what came before the first operation belongs to no communication
        program_.threads.push_back(std::move(lane.thread));
      }
    }
    return std::move(program_);
  }

 private:
  struct Lane {
    Thread thread;
    std::uint64_t computed = 0;
  };
  struct State {
    std::uint32_t process = 0;
    bool is_completed = false;
    bool is_taken = false;  // by the thread of the process that posted it
  };

  void take(const Event& event) {
    switch (event.name) {
      case Name::kCompute:
        lane_of(event.lane).computed += event.value;
        break;
      case Name::kPostSend:
        return post(event, Operation::Kind::kSend);
      case Name::kPostWrite:
        return post(event, Operation::Kind::kWrite);
      case Name::kPostRead:
        return post(event, Operation::Kind::kRead);
      case Name::kPostAtomic:
        return post(event, Operation::Kind::kAtomic);
      case Name::kPostRefused:
        return take_back(event);
      case Name::kDequeue:
        return dequeue(event);
      default:
        follow(event);
    }
  }

  Lane& lane_of(std::uint32_t number) {
    if (lanes_.size() <= number) lanes_.resize(number + 1);
    Lane& lane = lanes_[number];
    lane.thread.host = host_of(trace_.lanes[number].process);
    return lane;
  }

  std::uint32_t host_of(std::uint32_t process) {
    const auto [found, is_new] = hosts_.try_emplace(process, static_cast<std::uint32_t>(program_.hosts.size()));
    if (is_new) program_.hosts.push_back(trace_.lanes[process].name);
    return found->second;
  }

  void add_step(Lane& lane, Step::Kind kind, std::size_t operation) {
    lane.thread.steps.push_back({.kind = kind, .computed = std::exchange(lane.computed, 0), .operation = operation});
  }

  // A post that was refused leaves its number to the next one.
  void post(const Event& event, Operation::Kind kind) {
    const std::size_t index = program_.operations.size();
    if (event.flow != 0) {
      // The number is known already: the earlier post was refused, unless its message has arrived.
      const auto [found, is_new] = known_.try_emplace(event.flow, index);
      if (!is_new) {
        if (!program_.operations[found->second].is_sent) is_dropped_[found->second] = true;
        found->second = index;
      }
    }
    Lane& lane = lane_of(event.lane);
    program_.operations.push_back({.kind = kind, .bytes = event.value, .from = lane.thread.host});
    states_.push_back({.process = trace_.lanes[event.lane].process});
    is_dropped_.push_back(false);
    add_step(lane, Step::Kind::kPost, index);
  }

  void take_back(const Event& event) {
    Lane& lane = lane_of(event.lane);
    auto& steps = lane.thread.steps;
    // A refusal follows its post in the same thread; the processor time before it counts for what comes next.
    if (steps.empty() || steps.back().kind != Step::Kind::kPost) return;
    lane.computed += steps.back().computed;
    is_dropped_[steps.back().operation] = true;
    steps.pop_back();
  }

  void dequeue(const Event& event) {
    const auto found = known_.find(event.flow);
    if (event.flow == 0 || found == known_.end()) {
      ++program_.unknown_events;
      return;
    }
    State& state = states_[found->second];
    // The poster's own completion comes once. A second event of that message in its process is that of a receive, of an
    // endpoint connected with one of the same process.
    const bool is_own = state.process == trace_.lanes[event.lane].process && state.is_completed && !state.is_taken;
    if (is_own) state.is_taken = true;
    add_step(lane_of(event.lane), is_own ? Step::Kind::kTakeRequest : Step::Kind::kTakeReceive, found->second);
  }

  // On the lanes of endpoints.
  void follow(const Event& event) {
    const auto found = event.flow == 0 ? known_.end() : known_.find(event.flow);
    if (found == known_.end()) return;
    Operation& operation = program_.operations[found->second];
    if (event.name == Name::kWire) {
      operation.endpoint = event.lane;
    } else if (event.name == Name::kPlace && operation.endpoint != 0) {
      operation.peer = event.lane;
      operation.to = host_of(trace_.lanes[event.lane].process);
      operation.is_sent = true;
    } else if (event.name == Name::kComplete && event.lane == operation.endpoint) {
      states_[found->second].is_completed = true;
    }
  }

  const Trace& trace_;
  Program program_;
  std::vector<Lane> lanes_;
  std::vector<State> states_;
  std::vector<bool> is_dropped_;
  std::map<std::uint32_t, std::uint32_t> hosts_;  // by the lanes of processes
  std::unordered_map<std::uint64_t, std::size_t> known_;
};

}  // namespace

Program read_program(const Trace& trace) {
  return Builder(trace).build();
}

}  // namespace softdat::tools::model
