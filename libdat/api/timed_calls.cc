// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/api/timed_calls.h"

#include <sys/resource.h>

#include <cstdarg>
#include <mutex>
#include <optional>

#include "base/assert.h"
#include "base/timeline.h"
#include "libdat/api/calling_place.h"
#include "libdat/api/numbers.h"
#include "libdat/object/cancellation_shield.h"
#include "libdat/object/status.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

using base::Timeline;
using base::trace::Argument;
using base::trace::Name;
using Kind = Timeline::Kind;

// The entry points that the timed ones call. Written before the registry has the table.
constinit DAT_PROVIDER next{};

// One call of the program's.
class Scope {
 public:
  Scope() {
    if (timeline_ != nullptr) timeline_->enter();
  }
  ~Scope() {
    if (timeline_ != nullptr) timeline_->leave();
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Timeline* const timeline_ = Timeline::active();
};

Timeline::Endpoint endpoint_of(DAT_HANDLE handle) {
  return reinterpret_cast<Timeline::Endpoint>(handle);
}

bool is_full(DAT_RETURN answer) {
  // As DAT_GET_TYPE does.
  const auto type = static_cast<object::StatusType>(static_cast<std::uint32_t>(answer) >> 16 & 0x3fff);
  return type == object::StatusType::kInsufficientResources;
}

// The length of the segments. 0 for a list that the entry point will refuse.
std::uint64_t bytes_of(const DAT_LMR_TRIPLET* segments, DAT_COUNT count) {
  if (segments == nullptr || count < 0 || count > api::kLargestIov) return 0;
  std::uint64_t sum = 0;
  for (DAT_COUNT i = 0; i < count; ++i) sum += segments[i].segment_length;
  return sum;
}

template <typename Flags>
bool is_silent(Flags flags) {
  return (static_cast<std::uint32_t>(flags) & DAT_COMPLETION_SUPPRESS_FLAG) != 0;
}

// `go` makes the post.
template <typename Go>
DAT_RETURN make_post(DAT_HANDLE ep, const Timeline::Post& post, const Go& go) {
  Timeline* const timeline = Timeline::active();
  if (timeline == nullptr) return go();
  // Before the call, because another thread may dequeue the completion before the post returns.
  timeline->post(endpoint_of(ep), post);
  const DAT_RETURN answer = go();
  if (answer != DAT_SUCCESS) [[unlikely]]
    timeline->take_back(endpoint_of(ep), is_full(answer));
  return answer;
}

template <auto kSlot, typename... Rest>
DAT_RETURN post_send(DAT_EP_HANDLE ep, DAT_COUNT count, DAT_LMR_TRIPLET* iov, DAT_DTO_COOKIE cookie,
                     DAT_COMPLETION_FLAGS flags, Rest... rest) {
  const Scope scope;
  const api::KnownPlace place(__builtin_return_address(0));
  return make_post(ep, {.cookie = cookie.as_64, .bytes = bytes_of(iov, count), .is_silent = is_silent(flags)},
                   [&] { return (next.*kSlot)(ep, count, iov, cookie, flags, rest...); });
}

template <auto kSlot, Kind kKind>
DAT_RETURN post_rdma(DAT_EP_HANDLE ep, DAT_COUNT count, DAT_LMR_TRIPLET* iov, DAT_DTO_COOKIE cookie,
                     const DAT_RMR_TRIPLET* remote, DAT_COMPLETION_FLAGS flags) {
  const Scope scope;
  const api::KnownPlace place(__builtin_return_address(0));
  return make_post(
      ep, {.kind = kKind, .cookie = cookie.as_64, .bytes = bytes_of(iov, count), .is_silent = is_silent(flags)},
      [&] { return (next.*kSlot)(ep, count, iov, cookie, remote, flags); });
}

template <auto kSlot, typename Pointer>
struct Receive;
template <auto kSlot, typename... Arguments>
struct Receive<kSlot, DAT_RETURN (*)(Arguments...)> {
  static DAT_RETURN call(Arguments... arguments) {
    const Scope scope;
    const api::KnownPlace place(__builtin_return_address(0));
    SOFTDAT_DEBUG_CHECK((next.*kSlot) != nullptr, "the entries below are known before a program calls");
    if (Timeline* const timeline = Timeline::active()) timeline->post_receive();
    return (next.*kSlot)(arguments...);
  }
};

// A call that may take long.
template <auto kSlot, Name kName, typename Pointer>
struct Long;
template <auto kSlot, Name kName, typename... Arguments>
struct Long<kSlot, kName, DAT_RETURN (*)(Arguments...)> {
  static DAT_RETURN call(Arguments... arguments) {
    const Scope scope;
    const api::KnownPlace place(__builtin_return_address(0));
    SOFTDAT_DEBUG_CHECK((next.*kSlot) != nullptr, "the entries below are known before a program calls");
    Timeline* const timeline = Timeline::active();
    if (timeline == nullptr) return (next.*kSlot)(arguments...);
    timeline->begin_call();
    const std::uint64_t begun = Timeline::now();
    const DAT_RETURN answer = (next.*kSlot)(arguments...);
    timeline->call(kName, begun, 0, Argument::kNone);
    return answer;
  }
};

bool is_completion(DAT_EVENT_NUMBER number) {
#if SOFTDAT_ABI == 20
  // A completion of the extension has the fields of a DAT completion as well.
  if (number == static_cast<DAT_EVENT_NUMBER>(DAT_IB_DTO_EVENT)) return true;
#endif
  return number == DAT_DTO_COMPLETION_EVENT;
}

// DAT 1.2 does not tell.
std::optional<bool> is_receive(const DAT_DTO_COMPLETION_EVENT_DATA& data) {
#if SOFTDAT_ABI == 20
  const auto operation = static_cast<int>(data.operation);
  if (operation >= DAT_DTO_SEND && operation < DAT_DTO_RECEIVE) return false;
  if (operation == DAT_DTO_RECEIVE || operation == DAT_DTO_RECEIVE_WITH_INVALIDATE) return true;
#else
  static_cast<void>(data);
#endif
  return std::nullopt;
}

void tell_event(Timeline& timeline, const DAT_EVENT& event) {
  if (!is_completion(event.event_number)) return timeline.begin_call();
  const auto& data = event.event_data.dto_completion_event_data;
  timeline.dequeue(endpoint_of(data.ep_handle), data.user_cookie.as_64, is_receive(data));
}

DAT_RETURN dequeue(DAT_EVD_HANDLE evd, DAT_EVENT* event) {
  const Scope scope;
  const api::KnownPlace place(__builtin_return_address(0));
  const DAT_RETURN answer = next.evd_dequeue_func(evd, event);
  Timeline* const timeline = Timeline::active();
  if (timeline == nullptr) return answer;
  if (answer == DAT_SUCCESS) {
    tell_event(*timeline, *event);
  } else {
    timeline->poll_in_vain();
  }
  return answer;
}

// How often the calling thread has gone to sleep.
std::uint64_t sleeps() {
  rusage usage = {};
  // Voluntary context switches are sleeps.
  return ::getrusage(RUSAGE_THREAD, &usage) == 0 ? static_cast<std::uint64_t>(usage.ru_nvcsw) : 0;
}

// A wait without patience is a poll.
[[gnu::noinline]] DAT_RETURN time_wait(void* caller, DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout, DAT_COUNT threshold,
                                       DAT_EVENT* event, DAT_COUNT* more) {
  const Scope scope;
  const api::KnownPlace place(caller);
  Timeline* const timeline = Timeline::active();
  if (timeline == nullptr) return next.evd_wait_func(evd, timeout, threshold, event, more);
  if (timeout != 0) timeline->begin_call();
  const std::uint64_t slept = sleeps();
  const std::uint64_t begun = Timeline::now();
  const DAT_RETURN answer = next.evd_wait_func(evd, timeout, threshold, event, more);
  if (timeout != 0) timeline->call(Name::kEvdWait, begun, sleeps() - slept, Argument::kSleeps);
  if (answer == DAT_SUCCESS) {
    tell_event(*timeline, *event);
  } else if (timeout == 0) {
    timeline->poll_in_vain();
  }
  return answer;
}

DAT_RETURN wait(DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout, DAT_COUNT threshold, DAT_EVENT* event, DAT_COUNT* more) {
  return object::call_deferring_cancellation(time_wait, __builtin_return_address(0), evd, timeout, threshold, event,
                                             more);
}

[[gnu::noinline]] DAT_RETURN time_wait_for_cno(void* caller, DAT_CNO_HANDLE cno, DAT_TIMEOUT timeout,
                                               DAT_EVD_HANDLE* evd) {
  const Scope scope;
  const api::KnownPlace place(caller);
  Timeline* const timeline = Timeline::active();
  if (timeline == nullptr) return next.cno_wait_func(cno, timeout, evd);
  if (timeout != 0) timeline->begin_call();
  const std::uint64_t slept = sleeps();
  const std::uint64_t begun = Timeline::now();
  const DAT_RETURN answer = next.cno_wait_func(cno, timeout, evd);
  const std::uint64_t sleeps_here = sleeps() - slept;
  if (timeout != 0) timeline->call(Name::kCnoWait, begun, sleeps_here, Argument::kSleeps);
  if (answer == DAT_SUCCESS && sleeps_here > 0) timeline->instant(Name::kCnoWakeUp);
  return answer;
}

DAT_RETURN wait_for_cno(DAT_CNO_HANDLE cno, DAT_TIMEOUT timeout, DAT_EVD_HANDLE* evd) {
  return object::call_deferring_cancellation(time_wait_for_cno, __builtin_return_address(0), cno, timeout, evd);
}

#if SOFTDAT_ABI == 20

DAT_RETURN post_read_to_rmr(DAT_EP_HANDLE ep, const DAT_RMR_TRIPLET* local, DAT_DTO_COOKIE cookie,
                            const DAT_RMR_TRIPLET* remote, DAT_COMPLETION_FLAGS flags) {
  const Scope scope;
  const api::KnownPlace place(__builtin_return_address(0));
  const Timeline::Post post{.kind = Kind::kRead,
                            .cookie = cookie.as_64,
                            .bytes = remote == nullptr ? 0 : remote->segment_length,
                            .is_silent = is_silent(flags)};
  return make_post(ep, post, [&] { return next.ep_post_rdma_read_to_rmr_func(ep, local, cookie, remote, flags); });
}

// REQUIRES: one of the two atomics. Takes the arguments from its list.
Timeline::Post atomic_post(bool has_two, va_list arguments) {
  va_arg(arguments, DAT_UINT64);
  if (has_two) va_arg(arguments, DAT_UINT64);
  va_arg(arguments, const DAT_LMR_TRIPLET*);
  const auto cookie = va_arg(arguments, DAT_DTO_COOKIE);
  va_arg(arguments, const DAT_RMR_TRIPLET*);
  const auto flags = va_arg(arguments, std::uint32_t);
  return {.kind = Kind::kAtomic, .cookie = cookie.as_64, .bytes = sizeof(std::uint64_t), .is_silent = is_silent(flags)};
}

Timeline::Post immediate_post(va_list arguments) {
  const auto count = va_arg(arguments, DAT_COUNT);
  const auto* const segments = va_arg(arguments, const DAT_LMR_TRIPLET*);
  const auto cookie = va_arg(arguments, DAT_DTO_COOKIE);
  va_arg(arguments, const DAT_RMR_TRIPLET*);
  va_arg(arguments, std::uint32_t);
  const auto flags = va_arg(arguments, std::uint32_t);
  return {
      .cookie = cookie.as_64, .bytes = bytes_of(segments, count), .is_silent = is_silent(flags), .writes_first = true};
}

DAT_RETURN extended(DAT_HANDLE handle, DAT_EXTENDED_OP operation, va_list arguments) {
  const Scope scope;
  const api::KnownPlace place(__builtin_return_address(0));
  const int number = static_cast<int>(operation);
  const auto go = [&] { return next.handle_extendedop_func(handle, operation, arguments); };
  const bool is_atomic = number == DAT_IB_FETCH_AND_ADD_OP || number == DAT_IB_CMP_AND_SWAP_OP;
  if (!is_atomic && number != DAT_IB_RDMA_WRITE_IMMED_OP) return go();
  // A list can be read once, and the entry point reads its own.
  va_list copy;
  va_copy(copy, arguments);
  const Timeline::Post post = is_atomic ? atomic_post(number == DAT_IB_CMP_AND_SWAP_OP, copy) : immediate_post(copy);
  va_end(copy);
  return make_post(handle, post, go);
}

#endif

#define SOFTDAT_LONG(slot, name) \
  table.slot##_func = Long<&DAT_PROVIDER::slot##_func, name, decltype(table.slot##_func)>::call
#define SOFTDAT_RECEIVE(slot) table.slot##_func = Receive<&DAT_PROVIDER::slot##_func, decltype(table.slot##_func)>::call

}  // namespace

void time_calls(DAT_PROVIDER& table) {
  // The tables of all adapters have the same entries, but for one that stays as it is.
  static std::once_flag once;
  std::call_once(once, [&] { next = table; });
  SOFTDAT_DEBUG_CHECK(next.ep_post_send_func == table.ep_post_send_func && next.evd_wait_func == table.evd_wait_func,
                      "the tables of all adapters have the same entries");
  table.ep_post_send_func = post_send<&DAT_PROVIDER::ep_post_send_func>;
  table.ep_post_rdma_write_func = post_rdma<&DAT_PROVIDER::ep_post_rdma_write_func, Kind::kWrite>;
  table.ep_post_rdma_read_func = post_rdma<&DAT_PROVIDER::ep_post_rdma_read_func, Kind::kRead>;
  SOFTDAT_RECEIVE(ep_post_recv);
  SOFTDAT_RECEIVE(srq_post_recv);
  table.evd_dequeue_func = dequeue;
  table.evd_wait_func = wait;
  table.cno_wait_func = wait_for_cno;
  SOFTDAT_LONG(lmr_create, Name::kRegister);
  SOFTDAT_LONG(lmr_free, Name::kUnregister);
#if SOFTDAT_ABI == 20
  table.ep_post_send_with_invalidate_func =
      post_send<&DAT_PROVIDER::ep_post_send_with_invalidate_func, DAT_BOOLEAN, DAT_RMR_CONTEXT>;
  table.ep_post_rdma_read_to_rmr_func = post_read_to_rmr;
  table.handle_extendedop_func = extended;
#endif
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
