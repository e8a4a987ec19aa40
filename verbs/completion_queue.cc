// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/completion_queue.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <new>

#include "base/uncancelled.h"
#include "verbs/queue_pair.h"
#include "verbs/shared_receive_queue.h"
#include "verbs/status.h"

namespace softdat::verbs {
namespace {

// Places beside the consumer's, to begin with, and where the device is asked for the most it has.
constexpr std::size_t kSpare = 256;
constexpr std::size_t kLeastSpare = 32;
constexpr int kBatch = 16;

std::size_t staged_capacity(std::size_t capacity) {
  return std::bit_ceil(std::max<std::size_t>(capacity, 2));
}

WorkEntry& entry_of(const ibv_wc& wc) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): verbs gives back the number that was posted.
  return *reinterpret_cast<WorkEntry*>(wc.wr_id);
}

// Of a failed one only number and status mean anything.
hca::Completion completion_of(const ibv_wc& wc, const WorkEntry& entry, std::uint64_t context) {
  hca::Completion result{.wr_id = entry.cookie,
                         .qp_context = context,
                         .length = 0,
                         .status = wc.status == IBV_WC_SUCCESS ? hca::CompletionStatus::kSuccess : status_of(wc.status),
                         .opcode = entry.opcode,
                         .solicited = false};
  if (wc.status != IBV_WC_SUCCESS) return result;
  result.length = entry.is_receive ? wc.byte_len : entry.length;
  if (!entry.is_receive) return result;
  result.opcode = opcode_of_receive(wc);
  if (result.opcode == hca::CompletionOpcode::kRecvWriteImmediate) result.immediate = be32toh(wc.imm_data);
  if (result.opcode == hca::CompletionOpcode::kRecvInvalidate) result.invalidated = wc.invalidated_rkey;
  return result;
}

}  // namespace

CompletionQueue::CompletionQueue(EventThread& events, Adapter& adapter, std::size_t capacity, hca::CompletionSink& sink)
    : events_(events), adapter_(adapter), sink_(sink), capacity_(capacity), staged_(staged_capacity(capacity)) {}

hca::Result<std::unique_ptr<hca::CompletionQueue>> CompletionQueue::create(EventThread& events, Adapter& adapter,
                                                                           std::size_t capacity,
                                                                           hca::CompletionSink& sink) {
  std::unique_ptr<CompletionQueue> self(new CompletionQueue(events, adapter, capacity, sink));
  for (const std::size_t spare : {kSpare, kLeastSpare}) {
    if (self->cq_ != nullptr) break;
    self->cq_ = adapter.library().create_cq(adapter.context, static_cast<int>(capacity + spare), nullptr,
                                            adapter.completions, 0);
  }
  if (self->cq_ == nullptr) return hca::fail(error_of(errno));
  self->note_spare_locked();
  events.add(key_of(self->cq_), *self);
  return std::unique_ptr<hca::CompletionQueue>(std::move(self));
}

CompletionQueue::~CompletionQueue() {
  const base::Uncancelled guard;
  events_.forget(*this);
  if (cq_ == nullptr) return;
  SharedReceiveQueue::settle({staged_.array_one().first, staged_.array_one().second});
  SharedReceiveQueue::settle({staged_.array_two().first, staged_.array_two().second});
  adapter_.library().destroy_cq(cq_);
}

[[gnu::flatten]] std::size_t CompletionQueue::poll(std::span<hca::Completion> out) {
  const std::lock_guard lock(mutex_);
  was_polled_ = true;
  const std::size_t staged = staged_.empty() ? 0 : take_staged_locked(out);
  return staged + take_from_device_locked(out.subspan(staged));
}

[[gnu::noinline]] std::size_t CompletionQueue::take_staged_locked(std::span<hca::Completion> out) {
  const std::size_t count = std::min(out.size(), staged_.size());
  for (hca::Completion& completion : out.first(count)) {
    completion = staged_.front();
    staged_.pop_front();
  }
  SharedReceiveQueue::settle(out.first(count));
  return count;
}

// Nothing is staged when anything is asked for. One by one, since hardly anybody asks for more than one.
std::size_t CompletionQueue::take_from_device_locked(std::span<hca::Completion> out) {
  base::require_lock(locks::kCompletionQueue);
  SOFTDAT_DEBUG_CHECK(out.empty() || staged_.empty(), "staged completions are older than the device's", staged_.size());
  std::size_t count = 0;
  ibv_wc wc;
  while (count < out.size() && ibv_poll_cq(cq_, 1, &wc) > 0) {
    if (take_usual_locked(wc, out[count]) || take_any_locked(wc, out[count])) ++count;
  }
  return count;
}

// Fast path.
inline bool CompletionQueue::take_usual_locked(const ibv_wc& wc, hca::Completion& out) {
  base::require_lock(locks::kCompletionQueue);
  WorkEntry& entry = entry_of(wc);
  const bool is_usual = wc.status == IBV_WC_SUCCESS && entry.is_usual && entry.queue_pair->take_usual(entry, wc, out);
  if (is_usual) has_news_ = is_unheard_ = true;
  return is_usual;
}

[[gnu::noinline]] bool CompletionQueue::take_any_locked(const ibv_wc& wc, hca::Completion& out) {
  Taken taken;
  if (!take_locked(wc, nullptr, taken)) return false;
  note_locked(taken);
  out = taken.completion;
  SharedReceiveQueue::settle({&out, 1});
  return true;
}

// Whoever is about to sleep looks here after it has announced itself: so this is where the channel
// is armed for it.
std::size_t CompletionQueue::size() const {
  auto& self = const_cast<CompletionQueue&>(*this);
  const std::lock_guard lock(mutex_);
  self.drain_locked();
  const Armed wanted = sink_armed_ == Armed::kSolicited ? Armed::kSolicited : Armed::kAny;
  if (event_count_.has_waiters() && device_armed_ < wanted) {
    self.arm_device_locked(wanted);
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
  int error = grow_device_queue_locked(capacity + std::max(kLeastSpare, expected_sends_));
  if (error != 0) error = grow_device_queue_locked(capacity + kLeastSpare);
  if (error != 0) return hca::fail(error_of(error));
  // Places that requests under way may still need.
  if (static_cast<std::size_t>(cq_->cqe) < capacity + unwanted_.load(std::memory_order_acquire)) {
    return hca::fail(hca::Error::kUnsupported);
  }
  staged_.set_capacity(staged_capacity(capacity));
  base::check(staged_.size() <= staged_.capacity(), "a resize keeps what is staged", staged_.size(), capacity);
  capacity_ = capacity;
  note_spare_locked();
  has_overflowed_ = false;
  return hca::Done{};
} catch (const std::bad_alloc&) {
  return hca::fail(hca::Error::kNoMemory);
}

int CompletionQueue::grow_device_queue_locked(std::size_t wanted) {
  base::require_lock(locks::kCompletionQueue);
  const int size = static_cast<int>(wanted);
  return size <= cq_->cqe ? 0 : adapter_.library().resize_cq(cq_, size);
}

void CompletionQueue::note_spare_locked() {
  most_unwanted_.store(static_cast<std::uint32_t>(cq_->cqe) - static_cast<std::uint32_t>(capacity_),
                       std::memory_order_relaxed);
}

// A device that does not let it grow has its posters wait for their turn; see count_unwanted().
void CompletionQueue::expect_sends(std::uint32_t count) {
  const base::Uncancelled guard;
  const std::lock_guard lock(mutex_);
  expected_sends_ += count;
  grow_device_queue_locked(capacity_ + expected_sends_);
  note_spare_locked();
}

void CompletionQueue::release_sends(std::uint32_t count) {
  const std::lock_guard lock(mutex_);
  base::check(count <= expected_sends_, "a queue pair releases the sends that it announced", count, expected_sends_);
  expected_sends_ -= count;
}

bool CompletionQueue::count_unwanted() {
  const auto is_counted = [this] {
    const std::uint32_t before = unwanted_.fetch_add(1, std::memory_order_seq_cst);
    if (before < most_unwanted_.load(std::memory_order_seq_cst)) return true;
    discount_unwanted();
    return false;
  };
  if (is_counted()) [[likely]]
    return true;
  drain();
  return is_counted();
}

// What came before does not count any more; what comes between the look and the arming, the caller
// sees when it looks at size().
void CompletionQueue::arm(bool solicited_only) {
  const std::lock_guard lock(mutex_);
  drain_locked();
  has_news_ = has_failure_ = false;
  sink_armed_ = solicited_only ? Armed::kSolicited : Armed::kAny;
  prefers_solicited_ = solicited_only;
  if (device_armed_ < sink_armed_) arm_device_locked(sink_armed_);
}

void CompletionQueue::arm_device_locked(Armed how) {
  base::require_lock(locks::kCompletionQueue);
  SOFTDAT_DEBUG_CHECK(how != Armed::kOff, "an event disarms the device, not a call");
  device_armed_ = how;
  const base::Uncancelled guard;
  ibv_req_notify_cq(cq_, how == Armed::kSolicited ? 1 : 0);
}

// Apart, so that what is usual of a post stays small.
[[gnu::noinline]] void CompletionQueue::drain() {
  const std::lock_guard lock(mutex_);
  drain_locked();
}

void CompletionQueue::drain_locked(const QueuePair* dying) {
  base::require_lock(locks::kCompletionQueue);
  std::array<ibv_wc, kBatch> wcs;
  for (;;) {
    const int count = ibv_poll_cq(cq_, kBatch, wcs.data());
    for (int i = 0; i < count; ++i) {
      Taken taken;
      if (take_locked(wcs[static_cast<std::size_t>(i)], dying, taken)) stage_locked(taken);
    }
    if (count < kBatch) return;
  }
}

bool CompletionQueue::take_locked(const ibv_wc& wc, const QueuePair* dying, Taken& taken) {
  base::require_lock(locks::kCompletionQueue);
  WorkEntry& entry = entry_of(wc);
  QueuePair* queue_pair = entry.queue_pair;
  if (queue_pair == nullptr) {
    const auto found = queue_pairs_.find(wc.qp_num);
    queue_pair = found == queue_pairs_.end() ? nullptr : found->second;
  }
  base::check(queue_pair != nullptr || entry.shared != nullptr, "only a shared receive outlives its queue pair",
              wc.qp_num, entry.position);
  hca::Completion& completion = taken.completion;
  completion = completion_of(wc, entry, queue_pair == nullptr ? 0 : queue_pair->context());
  if (entry.window != nullptr) completion.qp_context = entry.window->context();
  // siw has another word for what was just on its way.
  const bool is_cut = wc.status == IBV_WC_LOC_QP_OP_ERR && queue_pair != nullptr && queue_pair->failures().was_cut();
  if (is_cut) completion.status = hca::CompletionStatus::kFlushed;
  const std::uint32_t flags = entry.flags;
  const bool is_receive = entry.is_receive;
  const bool has_failed =
      completion.status != hca::CompletionStatus::kSuccess && completion.status != hca::CompletionStatus::kFlushed;
  if (has_failed && queue_pair != nullptr && queue_pair != dying && !queue_pair->is_discarding()) {
    queue_pair->report_failed_work(entry, wc, completion.status);
  }
  if (entry.shared != nullptr) {
    completion.srq_account = entry.shared->on_taken(entry);
  } else {
    queue_pair->on_complete(entry, completion.status);
  }
  const bool is_dead = queue_pair == nullptr || queue_pair == dying || queue_pair->is_discarding();
  if (is_dead) {
    SharedReceiveQueue::settle({&completion, 1});
    return false;
  }
  if (completion.status != hca::CompletionStatus::kSuccess) {
    queue_pair->failures().on_work_failed(completion.status, is_receive);
  } else if (is_receive) {
    queue_pair->on_received(completion);
  }
  taken.is_quiet = (flags & hca::kQuiet) != 0;
  taken.queue_pair = queue_pair;
  return is_receive || (flags & hca::kSignaled) != 0 || completion.status != hca::CompletionStatus::kSuccess;
}

void CompletionQueue::stage_locked(const Taken& taken) {
  base::require_lock(locks::kCompletionQueue);
  if (staged_.full()) {
    SharedReceiveQueue::settle({&taken.completion, 1});
    if (taken.queue_pair != nullptr) taken.queue_pair->failures().on_overflow();
    if (!has_overflowed_) must_tell_overflow_ = true;
    has_overflowed_ = true;
    events_.post(*this);
    return;
  }
  staged_.push_back(taken.completion);
  note_locked(taken);
}

// For waiters and the sink, even if its consumer has it already: what woke them may be this one.
void CompletionQueue::note_locked(const Taken& taken) {
  base::require_lock(locks::kCompletionQueue);
  if (taken.completion.status != hca::CompletionStatus::kSuccess) has_failure_ = true;
  if (taken.is_quiet) return;
  has_news_ = is_unheard_ = true;
}

void CompletionQueue::push(const hca::Completion& completion, bool is_quiet) {
  {
    const std::lock_guard lock(mutex_);
    drain_locked();
    stage_locked({.completion = completion, .queue_pair = nullptr, .is_quiet = is_quiet});
    if (is_quiet && sink_armed_ == Armed::kOff) return;
  }
  events_.post(*this);
}

void CompletionQueue::attach(std::uint32_t number, QueuePair& queue_pair) {
  const std::lock_guard lock(mutex_);
  queue_pairs_[number] = &queue_pair;
  rearm_locked(false);
}

void CompletionQueue::detach(std::uint32_t number, const QueuePair* dying) {
  const std::lock_guard lock(mutex_);
  drain_locked(dying);
  queue_pairs_.erase(number);
}

// That an event was for a solicited completion can only be told from the event itself.
bool CompletionQueue::takes_sink_locked(bool has_fired) {
  base::require_lock(locks::kCompletionQueue);
  const bool is_due = sink_armed_ == Armed::kAny
                          ? has_news_
                          : sink_armed_ == Armed::kSolicited && (has_failure_ || (has_fired && has_news_));
  if (!is_due) return false;
  sink_armed_ = Armed::kOff;
  has_news_ = has_failure_ = false;
  return true;
}

// The call of the sink comes last: it may be our end.
void CompletionQueue::hear(bool has_fired) {
  bool must_tell = false;
  bool must_tell_overflow = false;
  {
    const std::lock_guard lock(mutex_);
    if (has_fired) device_armed_ = Armed::kOff;
    drain_locked();
    if (is_unheard_) event_count_.notify();
    is_unheard_ = false;
    must_tell_overflow = std::exchange(must_tell_overflow_, false);
    if (must_tell_overflow) events_.post(*this);
    if (!must_tell_overflow) must_tell = takes_sink_locked(has_fired);
    rearm_locked(has_fired);
  }
  if (must_tell_overflow) return sink_.on_overflow();
  if (must_tell) sink_.on_completion();
}

void CompletionQueue::rearm_locked(bool has_fired) {
  base::require_lock(locks::kCompletionQueue);
  const Armed how = prefers_solicited_ ? Armed::kSolicited : Armed::kAny;
  if (device_armed_ >= how) return;
  const bool is_wanted = sink_armed_ != Armed::kOff || event_count_.has_waiters();
  // Who polls hears of everything anyway.
  const base::Duration rest = std::exchange(was_polled_, false) ? kRestOfPolled : kRest;
  const bool may_rest = has_fired || rest == kRestOfPolled;
  if (may_rest && !is_wanted) return events_.wake_at(*this, base::Clock::now() + rest);
  arm_device_locked(how);
  drain_locked();
  if (is_unheard_ || (sink_armed_ == Armed::kAny && has_news_)) events_.post(*this);
}

void CompletionQueue::on_async_event(ibv_event_type type) {
  if (type != IBV_EVENT_CQ_ERR) return;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(has_overflowed_, true)) return;
    for (const auto& [number, queue_pair] : queue_pairs_) queue_pair->failures().on_overflow();
  }
  sink_.on_overflow();
}

}  // namespace softdat::verbs
