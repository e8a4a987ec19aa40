// SPDX-License-Identifier: BSD-2-Clause
#include "base/timeline_endpoints.h"

#include <mutex>
#include <string>

namespace softdat::base {
namespace {

using trace::Argument;
using trace::Name;

// Both sides compute the same number from what both know, so their events meet in one flow without a word on the wire.
// Never 0, which means no connection.
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

}  // namespace

TimelineEndpoints::State* TimelineEndpoints::find(Endpoint endpoint) {
  require_lock(locks::kTimeline);
  const auto found = states_.find(endpoint);
  return found == states_.end() ? nullptr : &found->second;
}

TimelineEndpoints::State* TimelineEndpoints::find(const IpAddress& own) {
  require_lock(locks::kTimeline);
  const auto found = endpoints_.find(own);
  return found == endpoints_.end() ? nullptr : find(found->second);
}

template <typename Body>
void TimelineEndpoints::tell(const IpAddress& own, Body body) {
  record(file_, [&] {
    const std::lock_guard lock(mutex_);
    if (State* const state = find(own)) body(*state);
  });
}

// Handles are used again: another endpoint has another track.
void TimelineEndpoints::bind(Endpoint endpoint) {
  record(file_, [&] {
    const std::lock_guard lock(mutex_);
    states_[endpoint] = {.track = file_.add_track("endpoint " + std::to_string(++bound_))};
  });
}

void TimelineEndpoints::bind(Endpoint endpoint, const IpAddress& own) {
  bind(endpoint);
  record(file_, [&] {
    const std::lock_guard lock(mutex_);
    endpoints_[own] = endpoint;
  });
}

void TimelineEndpoints::connecting(const IpAddress& own) {
  tell(own, [&](const State& state) { add_event(file_, state.track, Name::kConnecting); });
}

void TimelineEndpoints::established(const IpAddress& own, const IpAddress& peer, bool is_initiator) {
  tell(own, [&](State& state) {
    const IpAddress& initiator = is_initiator ? own : peer;
    const IpAddress& responder = is_initiator ? peer : own;
    // Counts the connections of this pair of addresses, which both sides have seen in the same order.
    const std::uint32_t generation = connections_[{own, peer}]++;
    state.messages.connect(hash_of(initiator, responder, generation), is_initiator);
    add_event(file_, state.track, Name::kConnected);
  });
}

void TimelineEndpoints::ended(const IpAddress& own, bool is_broken) {
  const Name name = is_broken ? Name::kBroken : Name::kDisconnected;
  tell(own, [&](const State& state) { add_event(file_, state.track, name); });
}

void TimelineEndpoints::wire(const IpAddress& own, Kind kind) {
  tell(own, [&](State& state) {
    if (const auto flow = state.messages.send(kind)) add_event(file_, state.track, Name::kWire, *flow);
  });
}

// The time is the caller's, because the sink that it calls may take long.
void TimelineEndpoints::place(const IpAddress& own, Kind kind, std::uint64_t bytes, std::uint64_t time) {
  tell(own, [&](State& state) {
    file_.add({.time = time,
               .flow = state.messages.place(kind),
               .value = bytes,
               .track = state.track,
               .name = Name::kPlace,
               .argument = Argument::kBytes});
  });
}

void TimelineEndpoints::lack_receive(const IpAddress& own) {
  tell(own,
       [&](const State& state) { add_event(file_, state.track, Name::kNoReceive, state.messages.next_receive()); });
}

void TimelineEndpoints::lack_room(const IpAddress& own) {
  tell(own, [&](const State& state) { add_event(file_, state.track, Name::kNoRoom); });
}

void TimelineEndpoints::complete(Endpoint endpoint, const TimelineMessages::Completion& completion) {
  record(file_, [&] {
    const std::lock_guard lock(mutex_);
    State* const state = find(endpoint);
    if (state == nullptr) return;
    const TimelineMessages::Completed done = state->messages.complete(completion);
    // Direct access: the poster itself placed the bytes, and the peer's adapter saw no message.
    if (done.was_placed_here) add_event(file_, state->track, Name::kPlace, done.flow);
    add_event(file_, state->track, completion.is_success ? Name::kComplete : Name::kCompleteError, done.flow);
  });
}

std::uint64_t TimelineEndpoints::post(Endpoint endpoint, const TimelineMessages::Post& post) {
  const std::lock_guard lock(mutex_);
  State* const state = find(endpoint);
  return state == nullptr ? 0 : state->messages.post(post);
}

void TimelineEndpoints::take_back(Endpoint endpoint) {
  const std::lock_guard lock(mutex_);
  if (State* const state = find(endpoint)) state->messages.take_back();
}

std::uint64_t TimelineEndpoints::dequeue(Endpoint endpoint, std::uint64_t cookie, std::optional<bool> is_receive) {
  const std::lock_guard lock(mutex_);
  State* const state = find(endpoint);
  return state == nullptr ? 0 : state->messages.dequeue(cookie, is_receive);
}

}  // namespace softdat::base
