// SPDX-License-Identifier: BSD-2-Clause
#include <thread>

#include "base/assert.h"
#include "libdat/api/answer.h"
#include "libdat/api/consumer_handle.h"
#include "libdat/api/entry_points.h"
#include "libdat/api/event_conversion.h"
#include "libdat/object/cancellation_shield.h"
#include "libdat/object/consumer_notification.h"
#include "libdat/object/event_dispatcher.h"
#include "libdat/object/interface_adapter.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

using object::ConsumerNotification;
using object::EventDispatcher;
using object::EventDispatcherParameters;
using object::InterfaceAdapter;
using object::NotifyMode;
using object::Pin;

static_assert(std::uint32_t{object::kSoftwareStream} == std::uint32_t{DAT_EVD_SOFTWARE_FLAG});
static_assert(std::uint32_t{object::kCrStream} == std::uint32_t{DAT_EVD_CR_FLAG});
static_assert(std::uint32_t{object::kDtoStream} == std::uint32_t{DAT_EVD_DTO_FLAG});
static_assert(std::uint32_t{object::kConnectionStream} == std::uint32_t{DAT_EVD_CONNECTION_FLAG});
static_assert(std::uint32_t{object::kRmrBindStream} == std::uint32_t{DAT_EVD_RMR_BIND_FLAG});
static_assert(std::uint32_t{object::kAsyncStream} == std::uint32_t{DAT_EVD_ASYNC_FLAG});

#if SOFTDAT_ABI == 20
static_assert(std::uint32_t{object::kExtensionStream} == std::uint32_t{DAT_IB_EVD_EXTENSION_FLAG});
constexpr std::uint32_t kKnownStreams = object::kAllStreams;
#else
constexpr std::uint32_t kKnownStreams = object::kAllStreams & ~object::kExtensionStream;
#endif

DAT_EVD_STATE state_of(NotifyMode mode) {
  switch (mode) {
    case NotifyMode::kThreshold:
      return DAT_EVD_STATE_CONFIG_THRESHOLD;
    case NotifyMode::kUnsignalled:
      return DAT_EVD_STATE_CONFIG_NOTIFY;
    case NotifyMode::kSolicited:
      return DAT_EVD_STATE_CONFIG_SOLICITED;
  }
  return DAT_EVD_STATE_CONFIG_THRESHOLD;
}

DAT_EVD_STATE state_of(const EventDispatcherParameters& evd) {
  return static_cast<DAT_EVD_STATE>((evd.is_enabled ? DAT_EVD_STATE_ENABLED : DAT_EVD_STATE_DISABLED) |
                                    (evd.is_waitable ? DAT_EVD_STATE_WAITABLE : DAT_EVD_STATE_UNWAITABLE) |
                                    state_of(evd.mode));
}

// The objects know one subtype for an EVD that is none; this API may know another.
DAT_RETURN evd_return_code(Status status) {
  if (status == object::invalid_handle(StatusDetail::kInvalidHandleEvdRequest)) return refuse_handle(kEvdHandle);
  return return_code(status);
}

// The shape that the calls without further arguments share.
template <typename Call>
DAT_RETURN call_on_evd(DAT_EVD_HANDLE evd_handle, Call call) {
  const auto evd = pin_handle<EventDispatcher>(evd_handle);
  if (!evd) return refuse_handle(kEvdHandle);
  return return_code(call(*evd));
}

}  // namespace

DAT_RETURN evd_create(DAT_IA_HANDLE ia_handle, DAT_COUNT min_qlen, DAT_CNO_HANDLE cno_handle, DAT_EVD_FLAGS flags,
                      DAT_EVD_HANDLE* evd_handle) {
  const auto ia = pin_handle<InterfaceAdapter>(ia_handle);
  if (!ia) return refuse_handle(StatusDetail::kInvalidHandleIa);
  const auto cno = pin_handle<ConsumerNotification>(cno_handle);
  if (cno_handle != nullptr && !cno) return refuse_handle(StatusDetail::kInvalidHandleCno);
  if (min_qlen <= 0) return refuse_argument(2);
  if (has_unknown_bits(flags, kKnownStreams)) return refuse_argument(4);
  if (evd_handle == nullptr) return refuse_argument(5);
  return answer_of([&] { return EventDispatcher::create(*ia, min_qlen, cno.get(), number_of(flags), *evd_handle); });
}

DAT_RETURN evd_query(DAT_EVD_HANDLE evd_handle, DAT_EVD_PARAM_MASK mask, DAT_EVD_PARAM* parameters) {
  const auto evd = pin_handle<EventDispatcher>(evd_handle);
  if (!evd) return refuse_handle(kEvdHandle);
  if (has_unknown_bits(mask, DAT_EVD_FIELD_ALL)) return refuse_argument(2);
  if (parameters == nullptr) return refuse_argument(3);
  const EventDispatcherParameters known = evd->query();
  SOFTDAT_DEBUG_CHECK(known.qlen > 0 && known.streams != 0, "an EVD has room, and a stream that feeds it");
  *parameters = {.ia_handle = consumer_ia_handle(known.ia),
                 .evd_qlen = known.qlen,
                 .evd_state = state_of(known),
                 .cno_handle = known.cno,
                 .evd_flags = static_cast<DAT_EVD_FLAGS>(known.streams)};
  return DAT_SUCCESS;
}

DAT_RETURN evd_modify_cno(DAT_EVD_HANDLE evd_handle, DAT_CNO_HANDLE cno_handle) {
  const auto evd = pin_handle<EventDispatcher>(evd_handle);
  if (!evd) return refuse_handle(kEvdHandle);
  const auto cno = pin_handle<ConsumerNotification>(cno_handle);
  if (cno_handle != nullptr && !cno) return refuse_handle(StatusDetail::kInvalidHandleCno);
  return answer_of([&] { return evd->cno_trigger().modify_cno(cno.get()); });
}

DAT_RETURN evd_enable(DAT_EVD_HANDLE evd) {
  return call_on_evd(evd, [](EventDispatcher& it) { return it.cno_trigger().enable(); });
}

DAT_RETURN evd_disable(DAT_EVD_HANDLE evd) {
  return call_on_evd(evd, [](EventDispatcher& it) { return it.cno_trigger().disable(); });
}

DAT_RETURN evd_set_unwaitable(DAT_EVD_HANDLE evd) {
  return call_on_evd(evd, [](EventDispatcher& it) { return it.waiting().set_unwaitable(); });
}

DAT_RETURN evd_clear_unwaitable(DAT_EVD_HANDLE evd) {
  return call_on_evd(evd, [](EventDispatcher& it) { return it.waiting().clear_unwaitable(); });
}

[[gnu::noinline]] static DAT_RETURN wait_for_event(DAT_EVD_HANDLE evd_handle, DAT_TIMEOUT timeout, DAT_COUNT threshold,
                                                   DAT_EVENT* event, DAT_COUNT* nmore) {
  object::Event taken;
  std::int32_t left = -1;  // the wait writes no such number
  Status status;
  {
    const auto evd = pin_handle<EventDispatcher>(evd_handle);
    if (!evd) return refuse_handle(kEvdHandle);
    if (threshold <= 0) return refuse_argument(3);
    if (event == nullptr) return refuse_argument(4);
    if (nmore == nullptr) return refuse_argument(5);
    status = evd->waiting().wait(timeout, threshold, taken, left);
  }
  SOFTDAT_DEBUG_CHECK(!status.ok() || taken.evd == evd_handle, "a wait that succeeds brings an event of its EVD");
  // The EVD must not be pinned here: if `event` is a wrong address, a handler of SIGSEGV may jump out of the call.
  if (left >= 0) *nmore = left;
  if (status.ok()) write_event(taken, *event);
  return return_code(status);
}

DAT_RETURN evd_wait(DAT_EVD_HANDLE evd_handle, DAT_TIMEOUT timeout, DAT_COUNT threshold, DAT_EVENT* event,
                    DAT_COUNT* nmore) {
  return object::call_deferring_cancellation(wait_for_event, evd_handle, timeout, threshold, event, nmore);
}

DAT_RETURN evd_resize(DAT_EVD_HANDLE evd_handle, DAT_COUNT min_qlen) {
  const auto evd = pin_handle<EventDispatcher>(evd_handle);
  if (!evd) return refuse_handle(kEvdHandle);
  if (min_qlen <= 0) return refuse_argument(2);
  return answer_of([&] { return evd->queue().resize(min_qlen); });
}

DAT_RETURN evd_post_se(DAT_EVD_HANDLE evd_handle, const DAT_EVENT* event) {
  const auto evd = pin_handle<EventDispatcher>(evd_handle);
  if (!evd) return refuse_handle(kEvdHandle);
  if (event == nullptr || number_of(event->event_number) != DAT_SOFTWARE_EVENT) return refuse_argument(2);
  return evd_return_code(evd->post_software(event->event_data.software_event_data.pointer));
}

// The slow path: the event is no completion, or a thread waits on the EVD.
[[gnu::noinline]] static DAT_RETURN dequeue_other(DAT_EVD_HANDLE evd_handle, DAT_EVENT& event) {
  object::Event taken;
  Status status;
  {
    const auto evd = pin_handle<EventDispatcher>(evd_handle);
    if (!evd) return refuse_handle(kEvdHandle);
    status = evd->dequeue(taken);
  }
  SOFTDAT_DEBUG_CHECK(!status.ok() || taken.evd == evd_handle, "a dequeue that succeeds brings an event of its EVD");
  if (status.ok()) write_event(taken, event);
  return return_code(status);
}

// Flattened into one function, as posts are (ep_post.cc).
[[gnu::flatten]] DAT_RETURN evd_dequeue(DAT_EVD_HANDLE evd_handle, DAT_EVENT* event) {
  using enum EventDispatcher::Dequeued;
  hca::Completion completion;
  EventDispatcher::Dequeued dequeued;
  {
    const auto evd = object::HandleTable::instance().pin_exclusively<EventDispatcher>(evd_handle);
    if (!evd) return refuse_handle(kEvdHandle);
    if (event == nullptr) return refuse_argument(2);
    dequeued = evd->dequeue_completion(completion);
    if (dequeued == kNothing) return return_code(EventDispatcher::no_completion());
  }
  // The lock must be free here: another thread may poll this EVD.
  if (dequeued == kInVain) [[unlikely]] {
    std::this_thread::yield();
    return return_code(EventDispatcher::no_completion());
  }
  if (dequeued == kOther) return dequeue_other(evd_handle, *event);
  // The lock must be free here: if `event` is a wrong address, a handler of SIGSEGV may jump out of the call.
  write_event(completion, evd_handle, *event);
  return DAT_SUCCESS;
}

DAT_RETURN evd_free(DAT_EVD_HANDLE evd_handle) {
  auto evd = pin_handle<EventDispatcher>(evd_handle);
  if (!evd) return refuse_handle(kEvdHandle);
  return evd_return_code(EventDispatcher::free(std::move(evd)));
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
