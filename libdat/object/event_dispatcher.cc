// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/event_dispatcher.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>

#include "base/assert.h"
#include "base/narrow.h"
#include "base/probe.h"
#include "base/words.h"
#include "libdat/object/connection_request.h"
#include "libdat/object/consumer_notification.h"
#include "libdat/object/hca_status.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/object/limit.h"
#include "libdat/object/refusal.h"
#include "libdat/object/users_words.h"

namespace softdat::object {
namespace {

constexpr std::uint32_t kCompletionStreams = kDtoStream | kRmrBindStream;
// Programs ask for few asynchronous events; every endpoint of a shared receive queue tells its end.
constexpr std::int32_t kLeastAsyncLength = 256;
// No completion queue stands behind them, and a program asks before it can query the adapter's limit.
constexpr std::uint32_t kMostAsyncLength = 1u << 20;

Status check_qlen(std::int32_t qlen, const hca::Device& device) {
  const hca::DeviceAttributes& attributes = device.attributes();
  if (qlen >= 1 && static_cast<std::uint32_t>(qlen) <= attributes.max_cqe) return kOk;
  return beyond_limit(invalid_parameter(StatusDetail::kInvalidArg2), attributes,
                      {"evd_min_qlen", qlen, attributes.max_cqe, "max_evd_qlen", 1});
}

// The stream that an event comes by.
[[maybe_unused]] std::uint32_t stream_of(const Event& event) {
  static constexpr std::array<std::uint32_t, std::variant_size_v<decltype(Event::body)>> kStreams{
      kDtoStream, kCrStream, kConnectionStream, kConnectionStream, kAsyncStream, kSoftwareStream, kRmrBindStream};
  return kStreams[event.body.index()];
}

}  // namespace

EventDispatcher::EventDispatcher(InterfaceAdapter& ia, std::uint32_t streams)
    : Object(kKind, &ia), streams_(streams), device_(ia.shared_device()), is_nasty_(device_->attributes().nasty != 0) {}

// The queue goes first: it may still be calling us, and what it calls looks at cq_, which therefore keeps its value
// until the queue is gone (reset() would clear it before).
EventDispatcher::~EventDispatcher() {
  delete cq_.get();
  static_cast<void>(cq_.release());
}

Status EventDispatcher::create(InterfaceAdapter& ia, std::int32_t min_qlen, ConsumerNotification* cno,
                               std::uint32_t streams, Handle& evd) {
  if (const Status status = check_qlen(min_qlen, ia.device()); !status.ok()) return status;
  if (cno != nullptr && &cno->ia().device() != &ia.device()) {
    return invalid_handle(StatusDetail::kInvalidHandleCno);
  }
  if (streams == 0 || (streams & ~kAllStreams) != 0) {
    return invalid_parameter(StatusDetail::kInvalidArg4);
  }
  const std::shared_ptr<EventDispatcher> self(new EventDispatcher(ia, streams));
  Adoption adoption(ia, self);
  if (!adoption.status().ok()) return adoption.status();
  if (const Status status = self->set_up(min_qlen, cno); !status.ok()) return status;
  evd = adoption.publish();
  return kOk;
}

Status EventDispatcher::create_async(InterfaceAdapter& ia, std::int32_t min_qlen,
                                     std::shared_ptr<EventDispatcher>& evd) {
  const hca::DeviceAttributes& attributes = ia.device().attributes();
  const std::uint32_t most = std::max(attributes.max_cqe, kMostAsyncLength);
  if (min_qlen < 1 || static_cast<std::uint32_t>(min_qlen) > most) {
    return beyond_limit(invalid_parameter(StatusDetail::kInvalidArg2), attributes,
                        {"async_evd_min_qlen", min_qlen, most, nullptr, 1});
  }
  const std::shared_ptr<EventDispatcher> self(new EventDispatcher(ia, kAsyncStream));
  Adoption adoption(ia, self, Maker::kProvider);
  if (!adoption.status().ok()) return adoption.status();
  const std::int32_t qlen = std::max(min_qlen, kLeastAsyncLength);
  if (const Status status = self->set_up(qlen, nullptr); !status.ok()) return status;
  if (!self->add_stream()) return invalid_handle(StatusDetail::kInvalidHandleIa);
  adoption.publish();
  evd = self;
  return kOk;
}

Status EventDispatcher::set_up(std::int32_t qlen, ConsumerNotification* cno) {
  SOFTDAT_DEBUG_CHECK(qlen >= 1, "an EVD is made with room for an event", static_cast<std::uint64_t>(qlen));
  SOFTDAT_DEBUG_CHECK(cq_ == nullptr && this->qlen() == 0, "an EVD is set up once");
  if ((streams_ & kCompletionStreams) != 0) {
    auto cq = device_->create_cq(static_cast<std::size_t>(qlen), *this);
    if (!cq) {
      return failed_creation(
          cq.reason(), StatusDetail::kResourceTevd, StatusDetail::kInvalidArg2, device_->attributes(),
          {"completion queues, one of which stands behind this EVD", device_->attributes().max_cq, "max_evds"});
    }
    cq_ = std::move(*cq);
    wake_ = &cq_->event_count();
  }
  if ((streams_ & ~kCompletionStreams) != 0) ring_.set_up(static_cast<std::size_t>(qlen));
  qlen_.store(qlen);
  return cno == nullptr ? kOk : modify_cno(cno);
}

Status EventDispatcher::free(Pin<EventDispatcher> evd) {
  if (!evd->streams_in_use_.try_close()) {
    return because(invalid_state(StatusDetail::kInvalidStateEvdInUse), [&] { return in_use_text(*evd); });
  }
  const bool was_open = HandleTable::instance().close(as_object(std::move(evd)));
  return was_open ? kOk : invalid_handle(StatusDetail::kInvalidHandleEvdRequest);
}

void EventDispatcher::on_closing() {
  SOFTDAT_DEBUG_CHECK(!is_closing_.load(), "an object is closed once");
  streams_in_use_.close();
  is_closing_.store(true);
  wake_->notify();
}

void EventDispatcher::detach() {
  SOFTDAT_DEBUG_CHECK(!has_waiter_.load(), "a thread that waits holds a pin, so none waits once detach() is called");
  std::shared_ptr<ConsumerNotification> cno;
  {
    std::lock_guard lock(mutex_);
    cno = std::move(cno_);
  }
  if (cno != nullptr) cno->remove_evd(handle(), true);
  discard_events();
}

// Nobody will ever see the connection requests that wait here: their peers are refused.
void EventDispatcher::discard_events() {
  HandleTable& table = HandleTable::instance();
  Event event;
  while (ring_.pop(event)) {
    const auto* arrival = std::get_if<RequestArrival>(&event.body);
    if (arrival == nullptr) continue;
    if (auto request = table.pin<ConnectionRequest>(arrival->request)) {
      table.close(as_object(std::move(request)));
    }
  }
}

Status EventDispatcher::dequeue(Event& event) {
  const std::lock_guard lock(static_cast<Cell*>(handle())->call_lock());
  hca::Completion completion;
  switch (dequeue_completion(completion)) {
    case Dequeued::kCompletion:
      write_completion(completion, event);
      event.evd = handle();
      return kOk;
    case Dequeued::kNothing:
      return no_completion();
    case Dequeued::kOther:
      break;
  }
  return dequeue_other(event);
}

EventDispatcher::Dequeued EventDispatcher::dequeue_completion(hca::Completion& out) {
  const bool is_plain = cq_ != nullptr && ring_.is_empty() && !has_waiter_.load(std::memory_order_relaxed);
  if (!is_plain) [[unlikely]]
    return Dequeued::kOther;
  using enum hca::Device::Found;
  const hca::Device::Found found = device_->poll(*cq_, out);
  if (found == kNothing) {
    if (!ring_.is_empty()) [[unlikely]]
      return Dequeued::kOther;
    counters_.add_alone(evd_counter::kDequeueNotFound);
    return Dequeued::kNothing;
  }
  counters_.add_alone(found == kAtOnce ? evd_counter::kDequeueFound : evd_counter::kDequeuePollFound);
  SOFTDAT_PROBE(dequeue, handle(), out.wr_id, out.opcode, out.status, out.length);
  return Dequeued::kCompletion;
}

Status EventDispatcher::dequeue_other(Event& event) {
  if (has_waiter_.load(std::memory_order_relaxed)) return invalid_state(StatusDetail::kInvalidStateEvdWaiter);
  if (take(event)) {
    counters_.add_alone(evd_counter::kDequeueFound);
    return kOk;
  }
  if (device_->progress_for(this) && take(event)) {
    counters_.add_alone(evd_counter::kDequeuePollFound);
    return kOk;
  }
  counters_.add_alone(evd_counter::kDequeueNotFound);
  return cq_ == nullptr ? queue_empty(false) : no_completion();
}

// Each dequeue is counted once, by how it ended; the rest follows.
std::uint64_t EventDispatcher::counter(std::size_t which, bool reset) {
  const std::uint64_t polled = counters_.total(evd_counter::kDequeuePollFound);
  const std::uint64_t failed = counters_.total(evd_counter::kDequeueNotFound);
  std::uint64_t total = counters_.total(which);
  if (which == evd_counter::kDequeueFound) total += polled;
  if (which == evd_counter::kDequeuePoll) total = polled + failed;
  if (which == evd_counter::kDequeue) total = counters_.total(evd_counter::kDequeueFound) + polled + failed;
  return counters_.since_reset(which, total, reset);
}

base::EvdRecord EventDispatcher::counters_now() {
  base::EvdRecord record{};
  static_assert(evd_counter::kCount == std::tuple_size_v<decltype(record.calls)>);
  record.id = reinterpret_cast<std::uintptr_t>(handle());
  record.ia = reinterpret_cast<std::uintptr_t>(ia_handle());
  for (std::size_t i = 0; i < record.calls.size(); ++i) record.calls[i] = counter(i, false);
  record.lost = cq_ == nullptr ? 0 : cq_->lost();
  record.streams = streams_;
  record.capacity = base::narrow<std::uint32_t>(qlen());
  record.depth = base::narrow<std::uint32_t>(count());
  const std::size_t completions = cq_ == nullptr ? 0 : cq_->high_water();
  record.high_water = static_cast<std::uint32_t>(std::max(completions, ring_.high_water()));
  return record;
}

bool EventDispatcher::take(Event& event) {
  const bool is_taken = ring_.is_empty() ? take_completion(event) : take_in_order(event);
  if (is_taken) event.evd = handle();
  return is_taken;
}

bool EventDispatcher::take_completion(Event& event) {
  hca::Completion completion;
  if (cq_ == nullptr || cq_->poll({&completion, 1}) == 0) return false;
  SOFTDAT_PROBE(dequeue, handle(), completion.wr_id, completion.opcode, completion.status, completion.length);
  write_completion(completion, event);
  return true;
}

// Completions that were there before an event go before it: DAT wants those of a connection before
// its DISCONNECTED.
[[gnu::noinline]] bool EventDispatcher::take_in_order(Event& event) {
  if (ring_.must_yield_to_completion() && take_completion(event)) return true;
  return ring_.pop(event) || take_completion(event);
}

std::int32_t EventDispatcher::count() const {
  const std::size_t completions = cq_ == nullptr ? 0 : cq_->size();
  return base::narrow<std::int32_t>(completions + ring_.size());
}

bool EventDispatcher::post(Event event) {
  SOFTDAT_DEBUG_CHECK(takes(stream_of(event)), "an event comes by a stream that the EVD was made for", streams_,
                      stream_of(event));
  event.evd = handle();
  const auto number = ring_.push(event, cq_ == nullptr ? 0 : cq_->size());
  if (!number) {
    if (!std::holds_alternative<RequestArrival>(event.body)) report_overflow();
    return false;
  }
  if (std::holds_alternative<ConnectionNotice>(event.body)) counters_.add(evd_counter::kConnectionCallback);
  notify_arrival(*number);
  return true;
}

Status EventDispatcher::post_software(void* pointer) {
  if (!takes(kSoftwareStream)) {
    return because(invalid_handle(StatusDetail::kInvalidHandleEvdRequest), [] {
      return std::string("the EVD takes no software events; create it with DAT_EVD_SOFTWARE_FLAG");
    });
  }
  const auto number = ring_.push({handle(), SoftwareEvent{pointer}}, cq_ == nullptr ? 0 : cq_->size());
  if (!number) return queue_full();
  notify_arrival(*number);
  return kOk;
}

void EventDispatcher::notify_waiter() {
  was_notified_.store(true);
  wake_->notify();
}

// The CNO is not triggered for an event that a waiter takes, nor for one that somebody has taken in the meantime. The
// waiter is asked for first: one that takes the event and leaves between the two looks has left nothing behind. What a
// waiter does not take it has triggered for itself when it leaves.
void EventDispatcher::notify_arrival(std::uint64_t number) {
  notify_waiter();
  if (!has_waiter_.load() && ring_.holds(number)) trigger_cno();
}

// For completions, which have no numbers here.
void EventDispatcher::trigger_cno_unless_empty() {
  if (!has_waiter_.load() && count() > 0) trigger_cno();
}

void EventDispatcher::trigger_cno() {
  std::lock_guard lock(mutex_);
  if (cno_ != nullptr && is_enabled_) cno_->trigger(handle());
}

void EventDispatcher::arm() {
  if (cq_ != nullptr) cq_->arm(is_solicited_only_.load());
}

// Armed again before the CNO is told: what comes in between is covered by that telling.
void EventDispatcher::on_completion() {
  SOFTDAT_DEBUG_CHECK(cq_ != nullptr, "completions come to an EVD with a completion queue");
  counters_.add(evd_counter::kDtoCallback);
  bool has_listener = false;
  {
    std::lock_guard lock(mutex_);
    has_listener = cno_ != nullptr && is_enabled_;
  }
  if (has_listener) arm();
  notify_waiter();
  trigger_cno_unless_empty();
}

void EventDispatcher::on_overflow() {
  report_overflow();
}

void EventDispatcher::report_overflow() {
  constexpr std::int32_t kOverflowReason = 0;  // DAT_EVD_OVERFLOW_ERROR
  if (has_overflowed_.exchange(true)) return;
  tell_overflow();
  ia().report({handle(), kOverflowReason, AsyncErrorType::kEvdOverflow});
}

// Told when the section is over that found the queue full, so that what was flushed in it is among what was lost.
void EventDispatcher::tell_overflow() const {
  if (!base::are_words_wanted()) return;
  const std::uint64_t lost = cq_ == nullptr ? 0 : cq_->lost();
  char text[256];
  std::snprintf(text, sizeof text,
                "EVD %p is full: %d of %d, %" PRIu64
                " %s lost. Create it with a longer queue (evd_min_qlen), or take "
                "events out faster. See dat_evd_create(3).",
                handle(), qlen(), qlen(), std::max<std::uint64_t>(lost, 1), lost > 0 ? "completions" : "event");
  base::say(text);
}

Status EventDispatcher::enable() {
  {
    std::lock_guard lock(mutex_);
    is_enabled_ = true;
    if (cno_ == nullptr) return kOk;
  }
  arm();
  return kOk;
}

Status EventDispatcher::disable() {
  std::lock_guard lock(mutex_);
  is_enabled_ = false;
  return kOk;
}

Status EventDispatcher::set_unwaitable() {
  is_unwaitable_.store(true);
  wake_->notify();
  return kOk;
}

Status EventDispatcher::clear_unwaitable() {
  is_unwaitable_.store(false);
  return kOk;
}

Status EventDispatcher::modify_cno(ConsumerNotification* cno) {
  std::shared_ptr<ConsumerNotification> next;
  if (cno != nullptr) {
    if (&cno->ia().device() != device_.get() || !cno->add_evd(handle())) {
      return invalid_handle(StatusDetail::kInvalidHandleCno);
    }
    next = std::static_pointer_cast<ConsumerNotification>(cno->shared_from_this());
  }
  {
    std::lock_guard lock(mutex_);
    cno_.swap(next);
  }
  if (next != nullptr) next->remove_evd(handle(), false);
  if (cno != nullptr) arm();
  return kOk;
}

Status EventDispatcher::resize(std::int32_t min_qlen) {
  if (const Status status = check_qlen(min_qlen, *device_); !status.ok()) return status;
  const auto too_full = [&] {
    return because(invalid_state(StatusDetail::kNoSubtype), [&] {
      return count_text(count(), "event") + " or more wait in the EVD, and " + std::to_string(min_qlen) +
             " are asked for; dequeue some first";
    });
  };
  const auto length = static_cast<std::size_t>(min_qlen);
  std::lock_guard lock(resize_mutex_);
  SOFTDAT_DEBUG_CHECK(awaited_ <= qlen(), "a thread waits for no more events than the EVD holds",
                      static_cast<std::uint64_t>(awaited_), static_cast<std::uint64_t>(qlen()));
  const auto old_length = static_cast<std::size_t>(qlen());
  if (awaited_ > min_qlen) {
    return because(invalid_state(StatusDetail::kInvalidStateEvdWaiter), [&] {
      return "a thread waits for " + count_text(awaited_, "event") + ", and the EVD is to hold " +
             std::to_string(min_qlen);
    });
  }
  const bool has_ring = (streams_ & ~kCompletionStreams) != 0;
  if (has_ring && !ring_.resize(length)) return too_full();
  const hca::Outcome outcome = cq_ == nullptr ? hca::Outcome(hca::Done{}) : cq_->resize(length);
  if (!outcome) {
    if (has_ring) static_cast<void>(ring_.resize(std::max(length, old_length)));
    if (outcome.reason() == hca::Error::kInvalidState) return too_full();
    if (outcome.reason() == hca::Error::kUnsupported) {
      return not_offered(device_->attributes(), "way to let a completion queue grow");
    }
    return creation_failure(outcome.reason(), StatusDetail::kResourceTevd, StatusDetail::kInvalidArg2);
  }
  qlen_.store(min_qlen);
  has_overflowed_.store(false);
  return kOk;
}

EventDispatcherParameters EventDispatcher::query() const {
  std::lock_guard lock(mutex_);
  return {.ia = ia_handle(),
          .cno = cno_ == nullptr ? nullptr : cno_->handle(),
          .qlen = qlen(),
          .streams = streams_,
          .mode = mode_.load(),
          .is_enabled = is_enabled_,
          .is_waitable = !is_unwaitable_.load()};
}

Status EventDispatcher::add_dto_stream(NotifyMode mode, StatusDetail handle_detail) {
  if (!takes(kDtoStream)) return invalid_handle(handle_detail);
  bool must_arm = false;
  {
    std::lock_guard lock(mutex_);
    if (!add_stream()) return invalid_handle(handle_detail);
    modes_.add(mode);
    must_arm = note_modes_locked();
  }
  if (must_arm) arm();
  return kOk;
}

void EventDispatcher::remove_dto_stream(NotifyMode mode) {
  bool must_arm = false;
  {
    std::lock_guard lock(mutex_);
    modes_.remove(mode);
    must_arm = note_modes_locked();
  }
  if (must_arm) arm();
  remove_stream();
}

// True when the queue must be armed anew: a thread that already waits may have armed it for other completions, or not
// at all if every completion notified until now.
bool EventDispatcher::note_modes_locked() {
  base::require_lock(locks::kEventDispatcher);
  const NotifyMode mode = modes_.strictest();
  const bool is_solicited_only = modes_.are_all_solicited();
  const bool is_other_scope = is_solicited_only_.exchange(is_solicited_only) != is_solicited_only;
  return mode_.exchange(mode) != mode || is_other_scope;
}

}  // namespace softdat::object
