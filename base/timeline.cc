// SPDX-License-Identifier: BSD-2-Clause
#include "base/timeline.h"

#include <mutex>
#include <new>
#include <string>
#include <system_error>
#include <utility>

#include "base/environment.h"
#include "base/forks.h"
#include "base/lock_places.h"
#include "base/log.h"
#include "base/timeline_thread.h"

namespace softdat::base {

constinit std::atomic<Timeline*> Timeline::process_{nullptr};

namespace {

using trace::Argument;
using trace::Name;
using trace::Type;

// A call that is over sooner is not worth a place in the file.
constexpr std::uint64_t kShortestCall = 2'000;

constinit Mutex<locks::kTimelineCreation> g_creation;  // held while the timeline is made
constinit bool g_is_settled = false;                   // there is one, or there is none; guarded by g_creation

[[gnu::destructor]] void flush_at_exit() {
  if (Timeline* const known = Timeline::active()) known->file().flush();
}

// Failure is a warning: the program runs without a timeline.
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

Name name_of(Timeline::Kind kind) {
  constexpr Name kNames[] = {Name::kPostWrite, Name::kPostSend, Name::kPostRead, Name::kPostAtomic};
  return kNames[static_cast<std::size_t>(kind)];
}

// Before an event that ends a pause of the calling thread, and what it computes.
std::uint32_t begin_event(TimelineFile& file) {
  TimelineThread& thread = TimelineThread::own();
  thread.end_pause(file);
  thread.tell_computed(file);
  return thread.track(file);
}

}  // namespace

// A child has no thread, and the file is its parent's.
void forget_timeline_in_child() {
  if (Timeline* const parents = Timeline::process_.exchange(nullptr)) {
    parents->endpoints_.leave_to_parent();
    parents->file_.leave_to_parent();
  }
  new (&g_creation) Mutex<locks::kTimelineCreation>;
  g_is_settled = false;
}

[[gnu::constructor]] static void forget_timeline_in_children() {
  on_fork({.in_child = forget_timeline_in_child});
}

Timeline* Timeline::of_process() {
  const std::lock_guard lock(g_creation);
  // Tried once: a directory that cannot be written is reported once, and not for each adapter.
  if (!std::exchange(g_is_settled, true)) process_.store(make_timeline(), std::memory_order_release);
  return active();
}

Timeline::Timeline(TimelineOptions options) : has_cpu_(options.has_cpu), file_(std::move(options)) {}

void Timeline::enter() {
  if (has_cpu_) TimelineThread::own().enter();
}

void Timeline::leave() {
  if (has_cpu_) TimelineThread::own().leave();
}

void Timeline::post(Endpoint endpoint, const Post& post) {
  record(file_, [&] {
    const std::uint32_t track = begin_event(file_);
    add_event(file_, track, name_of(post.kind), endpoints_.post(endpoint, post), Argument::kBytes, post.bytes);
  });
}

void Timeline::take_back(Endpoint endpoint, bool is_full) {
  record(file_, [&] {
    const std::uint32_t track = TimelineThread::own().track(file_);
    endpoints_.take_back(endpoint);
    if (is_full) add_event(file_, track, Name::kPostRefused);
  });
}

void Timeline::post_receive() {
  record(file_, [&] {
    TimelineThread::own().end_pause(file_);
    add_event(file_, TimelineThread::own().track(file_), Name::kPostReceive);
  });
}

void Timeline::dequeue(Endpoint endpoint, std::uint64_t cookie, std::optional<bool> is_receive) {
  record(file_, [&] {
    const std::uint32_t track = begin_event(file_);
    add_event(file_, track, Name::kDequeue, endpoints_.dequeue(endpoint, cookie, is_receive));
  });
}

void Timeline::poll_in_vain() {
  record(file_, [&] { TimelineThread::own().begin_pause(file_); });
}

void Timeline::begin_call() {
  record(file_, [&] { TimelineThread::own().end_pause(file_); });
}

void Timeline::call(Name name, std::uint64_t begun, std::uint64_t value, Argument argument) {
  record(file_, [&] {
    const std::uint64_t ended = now();
    // Both events are added when the call is over, because only then is its length known.
    if (ended - begun < kShortestCall) return;
    const std::uint32_t track = TimelineThread::own().track(file_);
    file_.add({.time = begun, .track = track, .name = name, .type = Type::kBegin});
    file_.add({.time = ended, .value = value, .track = track, .name = name, .type = Type::kEnd, .argument = argument});
  });
}

void Timeline::instant(Name name) {
  record(file_, [&] { add_event(file_, TimelineThread::own().track(file_), name); });
}

}  // namespace softdat::base
