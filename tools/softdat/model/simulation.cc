// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/model/simulation.h"

#include <algorithm>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace softdat::tools::model {
namespace {

using simnic::model::Network;
using simnic::model::NetworkField;

bool asks_for_answer(const Operation& operation) {
  return operation.kind == Operation::Kind::kRead || operation.kind == Operation::Kind::kAtomic;
}

// Events in the order of virtual time. Costs are those of LogGP: overheads of sender and receiver, latency, gap between
// messages, gap per byte (docs/TIMING.md).
class Simulation {
 public:
  Simulation(const Program& program, const Costs& costs)
      : program_(program), costs_(costs), threads_(program.threads.size()), ports_(program.hosts.size()) {
    prediction_.hosts.resize(program.hosts.size());
    prediction_.operations.resize(program.operations.size());
    waiting_.resize(program.operations.size());
  }

  Prediction run() {
    // All threads begin at 0, since the trace's own times are not those of this network.
    for (std::size_t i = 0; i < threads_.size(); ++i) go_on(i);
    while (!agenda_.empty() || release_oldest()) {
      if (agenda_.empty()) continue;
      const Entry entry = agenda_.top();
      agenda_.pop();
      // Never backwards: a thread that release_oldest() lets go on may have a clock that is behind.
      now_ = std::max(now_, entry.time);
      switch (entry.kind) {
        case Entry::Kind::kStep:
          do_step(entry.index);
          break;
        case Entry::Kind::kHead:
          take_message(entry.index);
          break;
        case Entry::Kind::kAnswer:
          take_answer(entry.index);
          break;
      }
    }
    return std::move(prediction_);
  }

 private:
  struct Entry {
    enum class Kind : std::uint8_t { kStep, kHead, kAnswer };
    double time = 0;
    std::uint64_t number = 0;  // the order of entries of the same time
    Kind kind = Kind::kStep;
    std::size_t index = 0;  // of a thread, or of an operation
    bool operator>(const Entry& other) const { return std::tie(time, number) > std::tie(other.time, other.number); }
  };
  struct ThreadState {
    double clock = 0;
    std::size_t next = 0;  // step
    bool is_waiting = false;
  };
  struct Port {
    double sends_until = 0, receives_until = 0;
  };
  // The thread that waits for an operation: its number plus one; 0: none.
  struct Waiting {
    std::size_t for_request = 0, for_receive = 0;
  };

  void add(double time, Entry::Kind kind, std::size_t index) { agenda_.push({time, ++entries_, kind, index}); }
  HostTime& host_of(std::size_t thread) { return prediction_.hosts[program_.threads[thread].host]; }
  const Step& step_of(std::size_t thread) const { return program_.threads[thread].steps[threads_[thread].next]; }

  // The thread computes, and comes to its next step.
  void go_on(std::size_t thread) {
    ThreadState& state = threads_[thread];
    host_of(thread).total = std::max(host_of(thread).total, state.clock);
    prediction_.total = std::max(prediction_.total, state.clock);
    if (state.next == program_.threads[thread].steps.size()) return;
    const double computing = static_cast<double>(step_of(thread).computed) * costs_.compute;
    host_of(thread).computing += computing;
    state.clock += computing;
    // The message leaves when the call ends, which is when the entry below comes up.
    const bool is_post = step_of(thread).kind == Step::Kind::kPost;
    if (is_post) {
      prediction_.operations[step_of(thread).operation].posted = state.clock;
      host_of(thread).calls += costs_.send;
      state.clock += costs_.send;
    }
    add(state.clock, Entry::Kind::kStep, thread);
  }

  void do_step(std::size_t thread) {
    ThreadState& state = threads_[thread];
    const Step& step = step_of(thread);
    if (step.kind == Step::Kind::kPost) {
      send(step.operation);
      ++state.next;
      return go_on(thread);
    }
    const bool is_request = step.kind == Step::Kind::kTakeRequest;
    const Times& times = prediction_.operations[step.operation];
    const double ready = is_request ? times.completed : times.arrived;
    if (ready >= 0) return take_event(thread, ready);
    // Not there yet: complete() or take_message() wakes the thread, or release_oldest() when nothing is left to happen.
    Waiting& waiting = waiting_[step.operation];
    (is_request ? waiting.for_request : waiting.for_receive) = thread + 1;
    state.is_waiting = true;
  }

  void take_event(std::size_t thread, double ready) {
    ThreadState& state = threads_[thread];
    const double begin = std::max(state.clock, ready);
    host_of(thread).waiting += begin - state.clock;
    host_of(thread).calls += costs_.receive;
    state.clock = begin + costs_.receive;
    state.is_waiting = false;
    ++state.next;
    go_on(thread);
  }

  double outbound_bytes(const Operation& operation) const {
    return asks_for_answer(operation) ? 0 : static_cast<double>(operation.bytes);
  }

  // When the first byte is at the other port.
  double leave(std::uint32_t host, std::uint32_t endpoint, double bytes, double time) {
    Port& port = ports_[host];
    const double begin = std::max(time, port.sends_until);
    // A port sends one message after the other, each for its bytes, but for the gap at least.
    port.sends_until = begin + std::max(costs_.gap, bytes * costs_.per_byte);
    // The head is its first packet, which is stored whole before it goes on.
    double head = begin + costs_.latency + std::min(bytes, costs_.packet_bytes) * costs_.first_per_byte;
    // A longer payload is not in the work request, so the adapter fetches it from memory.
    if (bytes > costs_.inline_bytes) head += costs_.fetch;
    double& last = last_heads_[endpoint];  // messages of an endpoint stay in order
    return last = std::max(last, head);
  }

  // The receiving port takes one message after the other as well, so that several senders share its rate.
  double arrive(std::uint32_t host, double bytes, double head) {
    Port& port = ports_[host];
    const double begin = std::max(head, port.receives_until);
    port.receives_until = begin + std::max(costs_.gap, bytes * costs_.per_byte);
    return begin + bytes * costs_.per_byte;
  }

  void send(std::size_t index) {
    const Operation& operation = program_.operations[index];
    if (!operation.is_sent) return;
    add(leave(operation.from, operation.endpoint, outbound_bytes(operation), now_), Entry::Kind::kHead, index);
  }

  void take_message(std::size_t index) {
    const Operation& operation = program_.operations[index];
    const double time = arrive(operation.to, outbound_bytes(operation), now_);
    if (asks_for_answer(operation)) {
      const auto bytes = static_cast<double>(operation.bytes);
      // The answer of an adapter never came with a post.
      const double fetch = bytes > costs_.inline_bytes ? 0 : costs_.fetch;
      return add(leave(operation.to, operation.peer, bytes, time + fetch), Entry::Kind::kAnswer, index);
    }
    prediction_.operations[index].arrived = time;
    wake(waiting_[index].for_receive, time);
    // The acknowledgment takes the way back.
    complete(index, time + costs_.latency);
  }

  void take_answer(std::size_t index) {
    const Operation& operation = program_.operations[index];
    const double time = arrive(operation.from, static_cast<double>(operation.bytes), now_);
    prediction_.operations[index].arrived = time;
    complete(index, time);
  }

  // Completions of an endpoint stay in order.
  void complete(std::size_t index, double time) {
    double& last = last_completions_[program_.operations[index].endpoint];
    last = std::max(last, time);
    prediction_.operations[index].completed = last;
    wake(waiting_[index].for_request, last);
  }

  void wake(std::size_t& thread, double time) {
    if (thread != 0) take_event(std::exchange(thread, 0) - 1, time);
  }

  // A thread waits for what the trace does not tell. False: none waits.
  bool release_oldest() {
    std::size_t oldest = threads_.size();
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      if (threads_[i].is_waiting && (oldest == threads_.size() || threads_[i].clock < threads_[oldest].clock))
        oldest = i;
    }
    if (oldest == threads_.size()) return false;
    Waiting& waiting = waiting_[step_of(oldest).operation];
    for (std::size_t* const waiter : {&waiting.for_request, &waiting.for_receive}) {
      if (*waiter == oldest + 1) *waiter = 0;
    }
    ++prediction_.untold;
    take_event(oldest, threads_[oldest].clock);
    return true;
  }

  const Program& program_;
  const Costs costs_;
  std::vector<ThreadState> threads_;
  std::vector<Port> ports_;
  std::vector<Waiting> waiting_;
  std::unordered_map<std::uint32_t, double> last_heads_, last_completions_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> agenda_;
  std::uint64_t entries_ = 0;
  double now_ = 0;
  Prediction prediction_;
};

}  // namespace

Costs costs_of(const Network& network, Bound bound, double compute) {
  const auto value = [&](NetworkField field) {
    const auto& known = network.at(field);
    return bound == Bound::kLow ? known.low : bound == Bound::kHigh ? known.high : known.typical;
  };
  const auto& rate = network.at(NetworkField::kRate);
  // Rates turn round: the highest makes the shortest time. Bits over Gbit/s are ns, so 8 / gbit is the time of a byte.
  const double gbit = bound == Bound::kLow ? rate.high : bound == Bound::kHigh ? rate.low : rate.typical;
  return {.send = value(NetworkField::kSend),
          .receive = value(NetworkField::kReceive),
          .latency = value(NetworkField::kLatency),
          .gap = value(NetworkField::kGap),
          .per_byte = 8 / gbit,
          .fetch = value(NetworkField::kFetch),
          .inline_bytes = value(NetworkField::kInline),
          .first_per_byte = value(NetworkField::kFirstPacket) / 1024,
          .packet_bytes = value(NetworkField::kPacket),
          .compute = compute};
}

Prediction simulate(const Program& program, const Costs& costs) {
  return Simulation(program, costs).run();
}

}  // namespace softdat::tools::model
