// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/perf/ping_pong.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "tools/softdat/perf/foreign_memory.h"
#include "tools/softdat/perf/ticks.h"

namespace softdat::tools::perf {
namespace {

// Receives that are posted ahead to each endpoint, so that posting them costs nobody time.
constexpr std::uint64_t kReceivesAhead = 4;

// Never 0, and never what the message bore that lay in its place before it.
std::uint8_t mark_of(const MessagePlaces& places, std::uint64_t number) {
  return static_cast<std::uint8_t>(places.use_of(number) % 255 + 1);
}

std::uint32_t sample_of(std::uint64_t ticks) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(ticks, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace

PingPong::PingPong(Lanes& lanes, const Case& what, LivenessCheck check)
    : lanes_(lanes),
      checker_(lanes),
      what_(what),
      check_(std::move(check)),
      receives_(consumes_receive(what.operation)),
      ahead_(std::min<std::uint64_t>(kReceivesAhead, lanes.largest_receives()) * lanes.setup().active) {}

// Marks in memory are cleared on both sides before either is told to go.
void PingPong::prepare() {
  next_ = lanes_.prepare(what_.operation, 0, what_.size, 1);
  refill_receives();
  for (std::uint64_t slot = 0; slot < lanes_.places().count(); ++slot)
    lanes_.places().incoming_slot(slot)[what_.size - 1] = 0;
}

void PingPong::lead(Samples& samples) {
  const Ticks& ticks = Ticks::instance();
  const auto unit = ticks.unit_us();
  // Both sides' pauses; only the other's lies between a post and its answer.
  const auto pause_ticks = static_cast<std::uint64_t>(lanes_.setup().pause_us / unit);
  std::uint64_t start = ticks.now();
  for (std::uint64_t i = 0; i < what_.iterations; ++i) {
    if (pause_ticks != 0) {
      pause();
      start = ticks.now();
    }
    post(i);
    await_arrival(i);
    const std::uint64_t end = ticks.now();
    samples.push_back(sample_of(end - start - std::min(pause_ticks, end - start)));
    start = end;
  }
  finish();
}

void PingPong::follow() {
  for (std::uint64_t i = 0; i < what_.iterations; ++i) {
    await_arrival(i);
    pause();
    post(i);
  }
  finish();
}

// What has to be done besides is done while the message travels. Of one piece, as is the next: what is done between a
// message's arrival and its answer, the other side waits for.
[[gnu::flatten]] void PingPong::post(std::uint64_t number) {
  checker_.write_outgoing(number, what_.size);
  // The last byte is the mark that the other side watches for: a write has no completion there.
  if (!receives_) set_foreign_byte(lanes_.places().outgoing(number) + what_.size - 1, mark_of(lanes_.places(), number));
  lanes_.post(next_);
  ++outstanding_;
  refill_receives();
  reap();
  next_ = lanes_.prepare(what_.operation, number + 1, what_.size, 1);
}

[[gnu::flatten]] void PingPong::await_arrival(std::uint64_t number) {
  if (!receives_) {
    watch_memory(number);
    checker_.look_at_incoming(number, what_.size);
  } else {
    DAT_EVENT event;
    lanes_.receives().take(lanes_.setup().waiting, check_, event);
    completion_of(event);
    checker_.look_at_received(what_.operation, event, number, what_.size);
  }
  ++arrived_;
  // Else while our message travels.
  if (posted_receives_ == arrived_) refill_receives();
}

// Polls between its looks, as programs do; --memory-only leaves the work to the library's own thread.
void PingPong::watch_memory(std::uint64_t number) {
  constexpr std::uint64_t kLooksBetweenPolls = 64;
  constexpr std::uint64_t kLooksBetweenChecks = std::uint64_t{1} << 24;
  const std::uint8_t* const tail = lanes_.places().incoming(number) + what_.size - 1;
  const std::uint8_t mark = mark_of(lanes_.places(), number);
  const Setup& setup = lanes_.setup();
  if (setup.event_queues != 0) return watch_memory_and_queues(tail, mark);
  const bool polls = !setup.memory_only;
  for (std::uint32_t i = 0; i < setup.polls_first && foreign_byte(tail) != mark; ++i) reap();
  for (std::uint64_t looks = 1; foreign_byte(tail) != mark; ++looks) {
    if (polls && looks % kLooksBetweenPolls == 0) reap();
    if (looks % kLooksBetweenChecks == 0) check_();
  }
}

// As a message-passing library does that has several queues: one look at memory, then one poll of each.
void PingPong::watch_memory_and_queues(const std::uint8_t* tail, std::uint8_t mark) {
  constexpr std::uint64_t kLooksBetweenChecks = std::uint64_t{1} << 20;
  DAT_EVENT event;
  for (std::uint64_t looks = 1; foreign_byte(tail) != mark; ++looks) {
    reap();
    for (EventQueue& queue : lanes_.idle_queues()) {
      if (queue.try_take(event)) throw Failure("an event came to a queue that serves no endpoint");
    }
    if (looks % kLooksBetweenChecks == 0) check_();
  }
}

void PingPong::refill_receives() {
  const std::uint64_t wanted = receives_ ? std::min(what_.iterations, arrived_ + ahead_) : 0;
  for (; posted_receives_ < wanted; ++posted_receives_) lanes_.post_receive(posted_receives_, what_.size);
}

// Also lets the library work for us, which is why an empty queue is polled too.
void PingPong::reap() {
  DAT_EVENT event;
  if (lanes_.requests().try_take(event)) {
    completion_of(event);
    --outstanding_;
  }
  // A full queue must be emptied, else the next post would be refused.
  while (outstanding_ >= lanes_.setup().depth) {
    lanes_.requests().take(Waiting::kPoll, check_, event);
    completion_of(event);
    --outstanding_;
  }
}

void PingPong::finish() {
  DAT_EVENT event;
  for (; outstanding_ > 0; --outstanding_) {
    lanes_.requests().take(lanes_.setup().waiting, check_, event);
    completion_of(event);
  }
}

void PingPong::pause() const {
  if (lanes_.setup().pause_us == 0) return;
  const Ticks& ticks = Ticks::instance();
  const auto length = static_cast<std::uint64_t>(lanes_.setup().pause_us / ticks.unit_us());
  for (const std::uint64_t start = ticks.now(); ticks.now() - start < length;) {
  }
}

void complete_singly(Lanes& lanes, const Case& what, const LivenessCheck& check, Samples& samples) {
  const Ticks& ticks = Ticks::instance();
  Checker checker(lanes);
  DAT_EVENT event;
  for (std::uint64_t i = 0; i < what.iterations; ++i) {
    if (!fetches(what.operation)) checker.write_outgoing(i, what.size);
    const std::uint64_t start = ticks.now();
    lanes.post(what.operation, i, what.size, 1);
    lanes.requests().take(lanes.setup().waiting, check, event);
    const std::uint64_t end = ticks.now();
    completion_of(event);
    samples.push_back(sample_of(end - start));
    if (fetches(what.operation)) checker.look_at_fetched(what.operation, i, what.size);
  }
}

}  // namespace softdat::tools::perf
