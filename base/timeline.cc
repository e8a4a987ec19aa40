// SPDX-License-Identifier: BSD-2-Clause
#include "base/timeline.h"

#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <limits>
#include <new>
#include <string>
#include <system_error>
#include <utility>

#include "base/assert.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/lock_places.h"
#include "base/log.h"

namespace softdat::base {

constinit std::atomic<Timeline*> Timeline::process_{nullptr};

namespace {

using trace::Argument;
using trace::Name;
using trace::Type;

// A program that polls without a break looks again sooner.
constexpr std::uint64_t kShortestPause = 20'000;
// A call that is over sooner is not worth a place in the file.
constexpr std::uint64_t kShortestCall = 2'000;
// A loop that polls takes less processor time from one poll to the next, a program that computes meanwhile more.
constexpr std::uint64_t kShortestWork = 5'000;
// Completions whose events nobody takes are forgotten.
constexpr std::size_t kMostReady = 65536;

constinit Mutex<locks::kTimelineCreation> g_creation;  // held while the timeline is made
constinit bool g_is_settled = false;                   // there is one, or there is none; guarded by g_creation

// What the present thread is known for.
struct OwnThread {
  const Timeline* timeline = nullptr;
  std::uint32_t track = 0;
  std::uint64_t vain_poll = 0;  // when the last one ended; 0: the last call was another
  std::uint64_t left = 0;       // processor time when the last call ended; 0: there was none
  std::uint64_t computed = 0;   // processor time that is not told yet
  std::uint32_t depth = 0;      // of calls within calls
};
thread_local constinit OwnThread t_own{};

std::uint64_t processor_time() {
  timespec time = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

// The difference of two readings with nothing between them.
std::uint64_t cost_of_reading() {
  static const std::uint64_t cost = [] {
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    for (int i = 0; i < 64; ++i) {
      const std::uint64_t before = processor_time();
      least = std::min(least, processor_time() - before);
    }
    return least;
  }();
  return cost;
}

[[gnu::destructor]] void flush_at_exit() {
  if (Timeline* const known = Timeline::active()) known->file().flush();
}

Timeline* make_timeline() {
  const std::string directory(environment(Variable::kTimeline));
  if (directory.empty()) return nullptr;
  TimelineOptions options{.directory = directory};
  const std::string_view ring = environment(Variable::kTimelineBuffer);
  if (const auto kib = read_number(Variable::kTimelineBuffer, ring)) options.ring_size = std::size_t{*kib} << 10;
  options.has_cpu = environment(Variable::kTimelineCpu) == "on";
  try {
    return new Timeline(std::move(options));
  } catch (const std::system_error& error) {
    log(LogLevel::kWarning, "there is no timeline: SOFTDAT_TIMELINE=%s: %s", directory.c_str(), error.what());
  } catch (const std::bad_alloc&) {
    log(LogLevel::kWarning, "there is no timeline: there is no memory for the buffer");
  }
  return nullptr;
}

std::uint32_t hash_of(const IpAddress& initiator, const IpAddress& responder, std::uint32_t generation) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto mix = [&](std::uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  };
  for (const IpAddress* const address : {&initiator, &responder}) {
    mix(std::uint64_t{address->ipv4} << 16 | address->port);
    for (const std::uint8_t byte : address->ipv6.bytes) mix(byte);
  }
  mix(generation);
  return static_cast<std::uint32_t>(hash >> 32) | 1u;
}

std::size_t index_of(Timeline::Kind kind) {
  return static_cast<std::size_t>(kind);
}

std::uint32_t count(std::array<std::uint32_t, 4>& numbers, Timeline::Kind kind) {
  return numbers[index_of(kind)]++;
}

Name name_of(Timeline::Kind kind) {
  constexpr Name kNames[] = {Name::kPostWrite, Name::kPostSend, Name::kPostRead, Name::kPostAtomic};
  return kNames[index_of(kind)];
}

}  // namespace

// A child has no thread, and the file is its parent's.
void forget_timeline_in_child() {
  if (Timeline* const parents = Timeline::process_.exchange(nullptr)) {
    new (&parents->mutex_) Mutex<locks::kTimeline>;
    parents->file_.leave_to_parent();
  }
  new (&g_creation) Mutex<locks::kTimelineCreation>;
  g_is_settled = false;
}

Timeline* Timeline::of_process() {
  [[maybe_unused]] static const int forks = ::pthread_atfork(nullptr, nullptr, forget_timeline_in_child);
  const std::lock_guard lock(g_creation);
  if (!std::exchange(g_is_settled, true)) process_.store(make_timeline(), std::memory_order_release);
  return active();
}

Timeline::Timeline(TimelineOptions options) : has_cpu_(options.has_cpu), file_(std::move(options)) {}

std::uint64_t Timeline::now() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count());
}

template <typename Body>
void Timeline::record(Body body) {
  try {
    body();
  } catch (const std::bad_alloc&) {
    file_.count_lost(1);
  }
}

void Timeline::add(std::uint32_t track, Name name, std::uint64_t flow, Argument argument, std::uint64_t value) {
  file_.add({.time = now(), .flow = flow, .value = value, .track = track, .name = name, .argument = argument});
}

std::uint32_t Timeline::thread_track() {
  if (t_own.timeline != this) {
    t_own.track = file_.add_thread();
    t_own.timeline = this;
    t_own.vain_poll = 0;
  }
  return t_own.track;
}

void Timeline::end_pause() {
  if (t_own.timeline != this || t_own.vain_poll == 0) return;
  const std::uint64_t begun = std::exchange(t_own.vain_poll, 0);
  const std::uint64_t ended = now();
  if (ended - begun < kShortestPause) return;
  const std::uint32_t track = thread_track();
  file_.add({.time = begun, .track = track, .name = Name::kPause, .type = Type::kBegin});
  file_.add({.time = ended, .track = track, .name = Name::kPause, .type = Type::kEnd});
}

void Timeline::enter() {
  if (!has_cpu_ || t_own.depth++ > 0 || t_own.left == 0) return;
  const std::uint64_t passed = processor_time() - t_own.left;
  const std::uint64_t computed = passed - std::min(passed, cost_of_reading());
  if (t_own.vain_poll == 0 || computed >= kShortestWork) t_own.computed += computed;
}

void Timeline::leave() {
  SOFTDAT_DEBUG_CHECK(!has_cpu_ || t_own.depth > 0, "each leave() ends one enter()");
  if (!has_cpu_ || --t_own.depth > 0) return;
  static_cast<void>(cost_of_reading());
  t_own.left = processor_time();
}

// Before an event of the calling thread.
void Timeline::tell_computed() {
  constexpr std::uint64_t kMost = 4'000'000'000;  // a reader takes 32 bits
  while (t_own.computed > 0) {
    const std::uint64_t part = std::min(t_own.computed, kMost);
    t_own.computed -= part;
    add(t_own.track, Name::kCompute, 0, Argument::kNanoseconds, part);
  }
}

Timeline::State* Timeline::state_of(Endpoint endpoint) {
  require_lock(locks::kTimeline);
  const auto found = states_.find(endpoint);
  return found == states_.end() ? nullptr : &found->second;
}

Timeline::State* Timeline::state_at(const IpAddress& own) {
  require_lock(locks::kTimeline);
  const auto found = endpoints_.find(own);
  return found == endpoints_.end() ? nullptr : state_of(found->second);
}

// Handles are used again: another endpoint has another track.
void Timeline::bind(Endpoint endpoint) {
  record([&] {
    const std::lock_guard lock(mutex_);
    states_[endpoint] = {.track = file_.add_track("endpoint " + std::to_string(++bound_))};
  });
}

void Timeline::bind(Endpoint endpoint, const IpAddress& own) {
  bind(endpoint);
  record([&] {
    const std::lock_guard lock(mutex_);
    endpoints_[own] = endpoint;
  });
}

void Timeline::connecting(const IpAddress& own) {
  record([&] {
    const std::lock_guard lock(mutex_);
    if (State* const state = state_at(own)) add(state->track, Name::kConnecting);
  });
}

void Timeline::established(const IpAddress& own, const IpAddress& peer, bool is_initiator) {
  record([&] {
    const std::lock_guard lock(mutex_);
    State* const state = state_at(own);
    if (state == nullptr) return;
    const IpAddress& initiator = is_initiator ? own : peer;
    const IpAddress& responder = is_initiator ? peer : own;
    const std::uint32_t generation = connections_[{own, peer}]++;
    const std::uint32_t track = state->track;
    std::deque<Pending> ready = std::move(state->ready);
    *state = {.track = track,
              .connection = hash_of(initiator, responder, generation),
              .is_initiator = is_initiator,
              .ready = std::move(ready)};
    add(track, Name::kConnected);
  });
}

void Timeline::ended(const IpAddress& own, bool is_broken) {
  record([&] {
    const std::lock_guard lock(mutex_);
    if (State* const state = state_at(own)) add(state->track, is_broken ? Name::kBroken : Name::kDisconnected);
  });
}

// The connection, the direction, the kind, and the number of the message.
std::uint64_t Timeline::flow_of(const State& state, bool is_own, Kind kind, std::uint32_t number) {
  if (state.connection == 0) return 0;
  const std::uint32_t direction = state.is_initiator == is_own ? 1u << 31 : 0;
  const std::uint32_t kind_bits = static_cast<std::uint32_t>(kind) << 29;
  return std::uint64_t{state.connection} << 32 | direction | kind_bits | (number & ((1u << 29) - 1));
}

void Timeline::add_send(State& state, const Pending& pending) {
  require_lock(locks::kTimeline);
  const auto await_message = [&](Kind kind) {
    auto& unsent = state.unsent[index_of(kind)];
    while (!unsent.empty() && unsent.front() < state.first_send) unsent.pop_front();
    unsent.push_back(state.first_send + state.sends.size());
  };
  await_message(pending.kind);
  if (pending.writes_first) await_message(Kind::kWrite);
  state.sends.push_back(pending);
  if (state.sends.size() > kMostReady) drop_sends(state, 1);
}

void Timeline::take_back_send(State& state) {
  require_lock(locks::kTimeline);
  SOFTDAT_DEBUG_CHECK(!state.sends.empty(), "a post that is taken back was noted");
  const Pending taken = state.sends.back();
  state.sends.pop_back();
  const auto forget_message = [&](Kind kind) {
    auto& unsent = state.unsent[index_of(kind)];
    if (!unsent.empty() && unsent.back() == state.first_send + state.sends.size()) unsent.pop_back();
    --state.posted[index_of(kind)];
  };
  forget_message(taken.kind);
  if (taken.writes_first) forget_message(Kind::kWrite);
}

// The next that waits for its message of that kind; null: none.
Timeline::Pending* Timeline::take_unsent(State& state, Kind kind) {
  require_lock(locks::kTimeline);
  auto& unsent = state.unsent[index_of(kind)];
  while (!unsent.empty()) {
    const std::uint64_t number = unsent.front();
    unsent.pop_front();
    const std::uint64_t index = number - state.first_send;
    if (index >= state.sends.size()) continue;  // it has completed, or there was no memory to note it
    Pending& pending = state.sends[static_cast<std::size_t>(index)];
    if (!pending.is_sent) return &pending;
  }
  return nullptr;
}

void Timeline::drop_sends(State& state, std::size_t count) {
  require_lock(locks::kTimeline);
  SOFTDAT_DEBUG_CHECK(count <= state.sends.size(), "sends that complete were noted", count, state.sends.size());
  state.sends.erase(state.sends.begin(), state.sends.begin() + static_cast<std::ptrdiff_t>(count));
  state.first_send += count;
}

void Timeline::post(Endpoint endpoint, const Post& post) {
  record([&] {
    end_pause();
    const std::uint32_t track = thread_track();
    tell_computed();
    const std::lock_guard lock(mutex_);
    State* const state = state_of(endpoint);
    if (state == nullptr) return add(track, name_of(post.kind), 0, Argument::kBytes, post.bytes);
    const std::uint64_t flow = flow_of(*state, true, post.kind, count(state->posted, post.kind));
    if (post.writes_first) count(state->posted, Kind::kWrite);
    add_send(*state, {.cookie = post.cookie,
                      .flow = flow,
                      .is_silent = post.is_silent,
                      .kind = post.kind,
                      .writes_first = post.writes_first});
    add(track, name_of(post.kind), flow, Argument::kBytes, post.bytes);
  });
}

void Timeline::take_back(Endpoint endpoint, bool is_full) {
  record([&] {
    const std::uint32_t track = thread_track();
    const std::lock_guard lock(mutex_);
    State* const state = state_of(endpoint);
    if (state != nullptr && !state->sends.empty()) take_back_send(*state);
    if (is_full) add(track, Name::kPostRefused);
  });
}

void Timeline::post_receive() {
  record([&] {
    end_pause();
    add(thread_track(), Name::kPostReceive);
  });
}

void Timeline::dequeue(Endpoint endpoint, std::uint64_t cookie, std::optional<bool> is_receive) {
  record([&] {
    end_pause();
    const std::uint32_t track = thread_track();
    tell_computed();
    const std::lock_guard lock(mutex_);
    State* const state = state_of(endpoint);
    if (state == nullptr) return add(track, Name::kDequeue);
    auto& ready = state->ready;
    const auto is_it = [&](const Pending& pending) {
      return pending.cookie == cookie && (!is_receive || pending.is_receive == *is_receive);
    };
    const auto found = std::ranges::find_if(ready, is_it);
    if (found == ready.end()) return add(track, Name::kDequeue);
    const std::uint64_t flow = found->flow;
    ready.erase(found);
    add(track, Name::kDequeue, flow);
  });
}

void Timeline::poll_in_vain() {
  record([&] {
    end_pause();
    thread_track();
    t_own.vain_poll = now();
  });
}

void Timeline::begin_call() {
  record([&] { end_pause(); });
}

void Timeline::call(Name name, std::uint64_t begun, std::uint64_t value, Argument argument) {
  record([&] {
    const std::uint64_t ended = now();
    if (ended - begun < kShortestCall) return;
    const std::uint32_t track = thread_track();
    file_.add({.time = begun, .track = track, .name = name, .type = Type::kBegin});
    file_.add({.time = ended, .value = value, .track = track, .name = name, .type = Type::kEnd, .argument = argument});
  });
}

void Timeline::instant(Name name) {
  record([&] { add(thread_track(), name); });
}

void Timeline::wire(const IpAddress& own, Kind kind) {
  record([&] {
    const std::lock_guard lock(mutex_);
    State* const state = state_at(own);
    if (state == nullptr) return;
    Pending* const sent = take_unsent(*state, kind);
    if (sent == nullptr || sent->kind != kind) return;  // sent again, or the write before immediate data
    sent->is_sent = true;
    add(state->track, Name::kWire, sent->flow);
  });
}

void Timeline::place(const IpAddress& own, Kind kind, std::uint64_t bytes, std::uint64_t time) {
  record([&] {
    const std::lock_guard lock(mutex_);
    State* const state = state_at(own);
    if (state == nullptr) return;
    const std::uint64_t flow = flow_of(*state, false, kind, count(state->placed, kind));
    file_.add({.time = time,
               .flow = flow,
               .value = bytes,
               .track = state->track,
               .name = Name::kPlace,
               .argument = Argument::kBytes});
  });
}

void Timeline::lack_receive(const IpAddress& own) {
  record([&] {
    const std::lock_guard lock(mutex_);
    State* const state = state_at(own);
    if (state != nullptr)
      add(state->track, Name::kNoReceive, flow_of(*state, false, Kind::kSend, state->placed[index_of(Kind::kSend)]));
  });
}

void Timeline::lack_room(const IpAddress& own) {
  record([&] {
    const std::lock_guard lock(mutex_);
    if (State* const state = state_at(own)) add(state->track, Name::kNoRoom);
  });
}

// Completions come in the order of posts, but those of silent successes not at all.
Timeline::Pending Timeline::take_completed(State& state, const Completion& completion) {
  require_lock(locks::kTimeline);
  if (completion.is_receive) {
    return {
        .cookie = completion.cookie, .flow = flow_of(state, false, Kind::kSend, state.received++), .is_receive = true};
  }
  const auto is_it = [&](const Pending& pending) {
    return pending.cookie == completion.cookie && !(pending.is_silent && completion.is_success);
  };
  const auto found = std::ranges::find_if(state.sends, is_it);
  if (found == state.sends.end()) return {.cookie = completion.cookie};
  const Pending taken = *found;
  drop_sends(state, static_cast<std::size_t>(found - state.sends.begin()) + 1);
  return taken;
}

void Timeline::complete(Endpoint endpoint, const Completion& completion) {
  record([&] {
    const std::lock_guard lock(mutex_);
    State* const state = state_of(endpoint);
    if (state == nullptr) return;
    const Pending done = take_completed(*state, completion);
    // What was never handed over, this process has placed itself.
    if (!done.is_receive && !done.is_sent && completion.is_success) add(state->track, Name::kPlace, done.flow);
    state->ready.push_back(done);
    if (state->ready.size() > kMostReady) state->ready.pop_front();
    add(state->track, completion.is_success ? Name::kComplete : Name::kCompleteError, done.flow);
  });
}

}  // namespace softdat::base
