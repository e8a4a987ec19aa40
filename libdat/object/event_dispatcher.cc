// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/event_dispatcher.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <mutex>
#include <new>
#include <string>

#include "base/assert.h"
#include "base/narrow.h"
#include "base/probe.h"
#include "base/words.h"
#include "libdat/object/consumer_notification.h"
#include "libdat/object/hca_status.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/object/limit.h"
#include "libdat/object/refusal.h"
#include "libdat/object/users_words.h"

namespace softdat::object {
namespace {

// Programs ask for few asynchronous events; every endpoint of a shared receive queue tells its end.
constexpr std::int32_t kLeastAsyncLength = 256;
// No completion queue stands behind them, and a program asks before it can query the adapter's limit.
constexpr std::uint32_t kMostAsyncLength = 1u << 20;

// The stream that an event comes by.
[[maybe_unused]] std::uint32_t stream_of(const Event& event) {
  static constexpr std::array<std::uint32_t, std::variant_size_v<decltype(Event::body)>> kStreams{
      kDtoStream, kCrStream, kConnectionStream, kConnectionStream, kAsyncStream, kSoftwareStream, kRmrBindStream};
  return kStreams[event.body.index()];
}

// Told when the section is over that found the queue full, so that what was flushed in it is among what was lost.
void tell_overflow(Handle evd, const EventQueue& queue) try {
  if (!base::are_words_wanted()) return;
  const std::uint64_t lost = queue.lost();
  char text[256];
  std::snprintf(text, sizeof text,
                "EVD %p is full: %d of %d, %" PRIu64
                " %s lost. Create it with a longer queue (evd_min_qlen), or take "
                "events out faster. See dat_evd_create(3).",
                evd, queue.length(), queue.length(), std::max<std::uint64_t>(lost, 1),
                lost > 0 ? "completions" : "event");
  base::say(text);
} catch (const std::bad_alloc&) {
}

}  // namespace

EventDispatcher::EventDispatcher(InterfaceAdapter& ia, std::uint32_t streams)
    : Object(kKind, &ia), queue_(*this, ia.shared_device()), streams_(streams, queue_) {}

// The completion queue may be calling us until it is gone.
EventDispatcher::~EventDispatcher() {
  queue_.end();
}

Status EventDispatcher::create(InterfaceAdapter& ia, std::int32_t min_qlen, ConsumerNotification* cno,
                               std::uint32_t streams, Handle& evd) {
  if (const Status status = check_queue_length(min_qlen, ia.device().attributes()); !status.ok()) return status;
  if (cno != nullptr && &cno->ia().device() != &ia.device()) {
    return invalid_handle(StatusDetail::kInvalidHandleCno);
  }
  if (streams == 0 || (streams & ~kAllStreams) != 0) {
    return invalid_parameter(StatusDetail::kInvalidArg4);
  }
  const std::shared_ptr<EventDispatcher> self(new EventDispatcher(ia, streams));
  Adoption adoption(ia, self);
  if (!adoption.status().ok()) return adoption.status();
  if (const Status status = self->queue_.set_up(streams, min_qlen, *self); !status.ok()) return status;
  if (cno != nullptr) {
    if (const Status status = self->cno_trigger_.modify_cno(cno); !status.ok()) return status;
  }
  evd = adoption.publish();
  return kOk;
}

Status EventDispatcher::create_async(InterfaceAdapter& ia, std::int32_t min_qlen,
                                     std::shared_ptr<EventDispatcher>& evd) {
  const hca::DeviceAttributes& attributes = ia.device().attributes();
  const std::uint32_t most = std::max(attributes.max_cqe, kMostAsyncLength);
  // Not max_evd_qlen: a program cannot ask for that before the adapter is open.
  if (min_qlen < 1 || static_cast<std::uint32_t>(min_qlen) > most) {
    return beyond_limit(invalid_parameter(StatusDetail::kInvalidArg2), attributes,
                        {"async_evd_min_qlen", min_qlen, most, nullptr, 1});
  }
  const std::shared_ptr<EventDispatcher> self(new EventDispatcher(ia, kAsyncStream));
  Adoption adoption(ia, self, Maker::kProvider);
  if (!adoption.status().ok()) return adoption.status();
  const std::int32_t qlen = std::max(min_qlen, kLeastAsyncLength);
  if (const Status status = self->queue_.set_up(kAsyncStream, qlen, *self); !status.ok()) return status;
  // The IA counts as a feeder, so dat_evd_free(3DAT) answers INVALID_STATE.
  if (!self->streams_.add()) return invalid_handle(StatusDetail::kInvalidHandleIa);
  adoption.publish();
  evd = self;
  return kOk;
}

Status EventDispatcher::free(Pin<EventDispatcher> evd) {
  // dat_evd_free(3DAT): INVALID_STATE while an endpoint, a service point or an IA feeds the EVD.
  if (!evd->streams_.try_close()) {
    return because(invalid_state(StatusDetail::kInvalidStateEvdInUse), [&] { return in_use_text(*evd); });
  }
  const bool was_open = HandleTable::instance().close(as_object(std::move(evd)));
  return was_open ? kOk : invalid_handle(StatusDetail::kInvalidHandleEvdRequest);
}

// Wakes the waiter, which holds a pin that close() waits for.
void EventDispatcher::on_closing() {
  streams_.close();
  waiting_.close();
}

void EventDispatcher::detach() {
  SOFTDAT_DEBUG_CHECK(!waiting_.has_waiter(), "a thread that waits holds a pin, so none waits once detach() is called");
  cno_trigger_.end();
  // CRs that nobody has dequeued end, and their peers are refused.
  queue_.discard();
}

Status EventDispatcher::dequeue(Event& event) {
  const std::lock_guard lock(queue_.taking_lock());
  hca::Completion completion;
  switch (dequeue_completion(completion)) {
    case Dequeued::kCompletion:
      write_completion(completion, event);
      event.evd = handle();
      return kOk;
    case Dequeued::kNothing:
    case Dequeued::kInVain:
      return no_completion();
    case Dequeued::kOther:
      break;
  }
  return dequeue_other(event);
}

// REQUIRES: the lock of exclusive calls. Fast path: an EVD that has completions alone, and no waiter.
EventDispatcher::Dequeued EventDispatcher::dequeue_completion(hca::Completion& out) {
  hca::CompletionQueue* const cq = queue_.completion_queue();
  const bool is_plain =
      cq != nullptr && queue_.holds_only_completions() && !waiting_.has_waiter(std::memory_order_relaxed);
  if (!is_plain) [[unlikely]]
    return Dequeued::kOther;
  using enum hca::Device::Found;
  const hca::Device::Found found = queue_.device().poll(*cq, out);
  // An event may have come into the ring since the look above.
  if (found == kNothing || found == kInVain) {
    if (!queue_.holds_only_completions()) [[unlikely]]
      return Dequeued::kOther;
    counters_.add_alone(evd_counter::kDequeueNotFound);
    return found == kNothing ? Dequeued::kNothing : Dequeued::kInVain;
  }
  counters_.add_alone(found == kAtOnce ? evd_counter::kDequeueFound : evd_counter::kDequeuePollFound);
  SOFTDAT_PROBE(dequeue, handle(), out.wr_id, out.opcode, out.status, out.length);
  return Dequeued::kCompletion;
}

Status EventDispatcher::dequeue_other(Event& event) {
  // dat_evd_dequeue(3DAT): INVALID_STATE while a thread waits.
  if (waiting_.has_waiter(std::memory_order_relaxed)) return invalid_state(StatusDetail::kInvalidStateEvdWaiter);
  if (queue_.take(event)) {
    counters_.add_alone(evd_counter::kDequeueFound);
    return kOk;
  }
  if (queue_.device().progress_for(&queue_) && queue_.take(event)) {
    counters_.add_alone(evd_counter::kDequeuePollFound);
    return kOk;
  }
  counters_.add_alone(evd_counter::kDequeueNotFound);
  return queue_.completion_queue() == nullptr ? queue_empty(false) : no_completion();
}

base::EvdRecord EventDispatcher::counters_now() {
  base::EvdRecord record{};
  static_assert(evd_counter::kCount == std::tuple_size_v<decltype(record.calls)>);
  record.id = reinterpret_cast<std::uintptr_t>(handle());
  record.ia = reinterpret_cast<std::uintptr_t>(ia_handle());
  for (std::size_t i = 0; i < record.calls.size(); ++i) record.calls[i] = counters_.counter(i, false);
  record.lost = queue_.lost();
  record.streams = streams_.kinds();
  // Numbers of one moment each: the depth may exceed what the counts say.
  record.capacity = base::narrow<std::uint32_t>(queue_.length());
  record.depth = base::narrow<std::uint32_t>(queue_.size());
  record.high_water = static_cast<std::uint32_t>(queue_.high_water());
  return record;
}

bool EventDispatcher::post(Event event) {
  SOFTDAT_DEBUG_CHECK(streams_.takes(stream_of(event)), "an event comes by a stream that the EVD was made for",
                      streams_.kinds(), stream_of(event));
  const auto number = queue_.put(event);
  if (!number) {
    // A request without room is refused, and that is no overflow; nor is an event that comes to an EVD that has ended.
    if (!std::holds_alternative<RequestArrival>(event.body) && !waiting_.is_closed()) on_overflow();
    return false;
  }
  if (std::holds_alternative<ConnectionNotice>(event.body)) counters_.add(evd_counter::kConnectionCallback);
  waiting_.on_event(*number);
  return true;
}

Status EventDispatcher::post_software(void* pointer) {
  if (!streams_.takes(kSoftwareStream)) {
    return because(invalid_handle(StatusDetail::kInvalidHandleEvdRequest), [] {
      return std::string("the EVD takes no software events; create it with DAT_EVD_SOFTWARE_FLAG");
    });
  }
  const auto number = queue_.put({nullptr, SoftwareEvent{pointer}});
  if (!number) return queue_full();
  waiting_.on_event(*number);
  return kOk;
}

// Armed again before the CNO is told: what comes in between is covered by that telling.
void EventDispatcher::on_completion() {
  SOFTDAT_DEBUG_CHECK(queue_.completion_queue() != nullptr, "completions come to an EVD with a completion queue");
  counters_.add(evd_counter::kDtoCallback);
  if (cno_trigger_.is_heard()) streams_.arm();
  waiting_.on_completion();
}

void EventDispatcher::on_overflow() {
  constexpr std::int32_t kOverflowReason = 0;  // DAT_EVD_OVERFLOW_ERROR
  // Told once, until dat_evd_resize() makes room.
  if (!queue_.note_overflow()) return;
  tell_overflow(handle(), queue_);
  ia().report({handle(), kOverflowReason, AsyncErrorType::kEvdOverflow});
}

EventDispatcherParameters EventDispatcher::query() const {
  const CnoTrigger::Settings settings = cno_trigger_.settings();
  return {.ia = ia_handle(),
          .cno = settings.cno,
          .qlen = queue_.length(),
          .streams = streams_.kinds(),
          .mode = streams_.mode(),
          .is_enabled = settings.is_enabled,
          .is_waitable = waiting_.is_waitable()};
}

}  // namespace softdat::object
