// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/completion_queue.h"

#include <array>
#include <new>
#include <utility>

#include "base/uncancelled.h"
#include "verbs/queue_pair.h"
#include "verbs/shared_receive_queue.h"
#include "verbs/status.h"

namespace softdat::verbs {
namespace {

constexpr int kBatch = 16;

// How long the channel is not armed after an event, and after one while the consumer polls.
constexpr base::Duration kRest = std::chrono::milliseconds(10);
constexpr base::Duration kRestOfPolled = std::chrono::milliseconds(50);

// Fast path: a plain success that needs nothing but its completion.
bool take_usual(const ibv_wc& wc, hca::Completion& out) {
  WorkEntry& entry = entry_of(wc);
  return wc.status == IBV_WC_SUCCESS && entry.is_usual && entry.queue_pair->take_usual(entry, wc, out);
}

// All others. False: the consumer does not want it.
[[gnu::noinline]] bool take_any(CompletionReader& reader, NotificationState& notifications, const ibv_wc& wc,
                                hca::Completion& out) {
  CompletionReader::Result taken;
  if (!reader.read(wc, nullptr, taken)) return false;
  notifications.on_completion(taken.completion, taken.is_quiet);
  out = taken.completion;
  SharedReceiveQueue::settle({&out, 1});
  return true;
}

}  // namespace

CompletionQueue::CompletionQueue(EventThread& events, Adapter& adapter, std::size_t capacity, hca::CompletionSink& sink)
    : events_(events), sink_(sink), device_(adapter), staged_(capacity) {}

hca::Result<std::unique_ptr<hca::CompletionQueue>> CompletionQueue::create(EventThread& events, Adapter& adapter,
                                                                           std::size_t capacity,
                                                                           hca::CompletionSink& sink) {
  std::unique_ptr<CompletionQueue> self(new CompletionQueue(events, adapter, capacity, sink));
  if (const hca::Outcome made = self->device_.make(capacity); !made) return hca::fail(made.reason());
  events.add(key_of(self->cq()), *self);
  return std::unique_ptr<hca::CompletionQueue>(std::move(self));
}

CompletionQueue::~CompletionQueue() {
  const base::Uncancelled guard;
  events_.forget(*this);
}

// Takes from the device one by one, because most consumers ask for one.
[[gnu::flatten]] std::size_t CompletionQueue::poll(std::span<hca::Completion> out) {
  const std::lock_guard lock(mutex_);
  notifications_.on_poll();
  std::size_t count = staged_.empty() ? 0 : staged_.pop(out);
  SOFTDAT_DEBUG_CHECK(count == out.size() || staged_.empty(), "staged completions are older than the device's",
                      staged_.size());
  ibv_wc wc;
  while (count < out.size() && ibv_poll_cq(cq(), 1, &wc) > 0) {
    if (take_usual(wc, out[count])) [[likely]] {
      notifications_.on_waking();
      ++count;
    } else if (take_any(reader_, notifications_, wc, out[count])) {
      ++count;
    }
  }
  return count;
}

// A thread that is about to sleep calls this after it has announced itself, so the channel is armed here for it.
std::size_t CompletionQueue::size() const {
  auto& self = const_cast<CompletionQueue&>(*this);
  const std::lock_guard lock(mutex_);
  self.drain_locked();
  const Armed wanted = notifications_.sink_armed() == Armed::kSolicited ? Armed::kSolicited : Armed::kAny;
  if (event_count_.has_waiters() && device_.armed() < wanted) {
    self.device_.arm(wanted);
    self.drain_locked();
  }
  return staged_.size();
}

std::size_t CompletionQueue::capacity() const {
  const std::lock_guard lock(mutex_);
  return staged_.capacity();
}

hca::Outcome CompletionQueue::resize(std::size_t capacity) try {
  const std::lock_guard lock(mutex_);
  drain_locked();
  if (staged_.size() > capacity) return hca::fail(hca::Error::kInvalidState);
  // Made first: once the device's queue has grown, nothing may fail.
  StagedCompletions room(capacity);
  if (const hca::Outcome resized = device_.resize(capacity); !resized) return resized;
  staged_.swap_room(room);
  notifications_.on_resize();
  return hca::Done{};
} catch (const std::bad_alloc&) {
  return hca::fail(hca::Error::kNoMemory);
}

void CompletionQueue::expect_sends(std::uint32_t count) {
  const std::lock_guard lock(mutex_);
  device_.expect_sends(count);
}

void CompletionQueue::release_sends(std::uint32_t count) {
  const std::lock_guard lock(mutex_);
  device_.release_sends(count);
}

// Posters call this. A drain frees the slots of requests that have completed.
bool CompletionQueue::count_unwanted() {
  if (device_.count_unwanted()) [[likely]]
    return true;
  drain();
  return device_.count_unwanted();
}

// A completion that comes between drain_locked() and the arming, the caller sees when it looks at size().
void CompletionQueue::arm(bool solicited_only) {
  const std::lock_guard lock(mutex_);
  drain_locked();
  const Armed how = solicited_only ? Armed::kSolicited : Armed::kAny;
  notifications_.arm_sink(how);
  if (device_.armed() < how) device_.arm(how);
}

// Apart, so that the usual path of a post stays small.
[[gnu::noinline]] void CompletionQueue::drain() {
  const std::lock_guard lock(mutex_);
  drain_locked();
}

void CompletionQueue::drain_locked(const QueuePair* dying) {
  base::require_lock(locks::kCompletionQueue);
  std::array<ibv_wc, kBatch> wcs;
  for (;;) {
    const int count = ibv_poll_cq(cq(), kBatch, wcs.data());
    for (int i = 0; i < count; ++i) {
      CompletionReader::Result taken;
      if (reader_.read(wcs[static_cast<std::size_t>(i)], dying, taken)) stage_locked(taken);
    }
    if (count < kBatch) return;
  }
}

// Without room the completion is lost. Its connection breaks, and the sink hears of the overflow once
// (DAT_ASYNC_ERROR_EVD_OVERFLOW).
void CompletionQueue::stage_locked(const CompletionReader::Result& taken) {
  base::require_lock(locks::kCompletionQueue);
  if (staged_.push(taken.completion)) return notifications_.on_completion(taken.completion, taken.is_quiet);
  if (taken.queue_pair != nullptr) taken.queue_pair->failures().on_overflow();
  if (notifications_.on_overflow()) notifications_.tell_overflow_later();
  events_.post(*this);
}

void CompletionQueue::push(const hca::Completion& completion, bool is_quiet) {
  {
    const std::lock_guard lock(mutex_);
    // Completions that the device has made already stand before this one.
    drain_locked();
    stage_locked({.completion = completion, .queue_pair = nullptr, .is_quiet = is_quiet});
    if (is_quiet && notifications_.sink_armed() == Armed::kOff) return;
  }
  events_.post(*this);
}

void CompletionQueue::attach(std::uint32_t number, QueuePair& queue_pair) {
  const std::lock_guard lock(mutex_);
  reader_.attach(number, queue_pair);
  rearm_locked(false);
}

void CompletionQueue::detach(std::uint32_t number, const QueuePair* dying) {
  const std::lock_guard lock(mutex_);
  drain_locked(dying);
  reader_.detach(number);
}

// The call of the sink comes last, because the sink may destroy this queue.
void CompletionQueue::hear(bool has_fired) {
  bool must_tell = false;
  bool must_tell_overflow = false;
  {
    const std::lock_guard lock(mutex_);
    if (has_fired) device_.on_fired();
    drain_locked();
    if (notifications_.takes_waiters()) event_count_.notify();
    must_tell_overflow = notifications_.takes_overflow();
    if (must_tell_overflow) events_.post(*this);
    if (!must_tell_overflow) must_tell = notifications_.takes_sink(has_fired);
    rearm_locked(has_fired);
  }
  if (must_tell_overflow) return sink_.on_overflow();
  if (must_tell) sink_.on_completion();
}

// Reads the queue again after arming: ibv_req_notify_cq(3) tells nothing of completions that are there already.
void CompletionQueue::rearm_locked(bool has_fired) {
  base::require_lock(locks::kCompletionQueue);
  const Armed how = notifications_.preferred();
  if (device_.armed() >= how) return;
  const bool is_wanted = notifications_.sink_armed() != Armed::kOff || event_count_.has_waiters();
  // A consumer that polls finds every completion itself.
  const base::Duration rest = notifications_.takes_polled() ? kRestOfPolled : kRest;
  const bool may_rest = has_fired || rest == kRestOfPolled;
  if (may_rest && !is_wanted) return events_.wake_at(*this, base::Clock::now() + rest);
  device_.arm(how);
  drain_locked();
  if (notifications_.is_due()) events_.post(*this);
}

// IBV_EVENT_CQ_ERR: the device's queue has overrun, and completions of any of its queue pairs may be lost.
void CompletionQueue::on_async_event(ibv_event_type type) {
  if (type != IBV_EVENT_CQ_ERR) return;
  {
    const std::lock_guard lock(mutex_);
    if (!notifications_.on_overflow()) return;
    reader_.on_overflow();
  }
  sink_.on_overflow();
}

}  // namespace softdat::verbs
