// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/api/faulty_calls.h"

#include <mutex>

#include "base/assert.h"
#include "hca/device.h"
#include "libdat/api/answer.h"
#include "libdat/api/calling_place.h"
#include "libdat/api/entry_points.h"
#include "libdat/object/cancellation_shield.h"
#include "libdat/object/consumer_notification.h"
#include "libdat/object/event_dispatcher.h"
#include "libdat/object/interface_adapter.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

using object::StatusType;
using Fate = hca::Device::WaitFate;

// The entry points that these call. Written before the registry has the table.
constinit DAT_PROVIDER next{};

// A poll is no wait: how often a program polls differs from run to run.
template <typename Object>
Fate fate_of(DAT_HANDLE handle, DAT_TIMEOUT timeout) {
  if (timeout == 0) return Fate::kGoesOn;
  const auto object = pin_handle<Object>(handle);
  return object ? object->ia().device().decide_wait(timeout != DAT_TIMEOUT_INFINITE) : Fate::kGoesOn;
}

DAT_RETURN answer_of(Fate fate) {
  return return_code(
      object::Status{fate == Fate::kTimedOut ? StatusType::kTimeoutExpired : StatusType::kInterruptedCall});
}

[[gnu::noinline]] DAT_RETURN fail_wait(void* caller, DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout, DAT_COUNT threshold,
                                       DAT_EVENT* event, DAT_COUNT* more) {
  const api::KnownPlace place(caller);
  const Fate fate = fate_of<object::EventDispatcher>(evd, timeout);
  return fate == Fate::kGoesOn ? next.evd_wait_func(evd, timeout, threshold, event, more) : answer_of(fate);
}

DAT_RETURN wait(DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout, DAT_COUNT threshold, DAT_EVENT* event, DAT_COUNT* more) {
  return object::call_deferring_cancellation(fail_wait, __builtin_return_address(0), evd, timeout, threshold, event,
                                             more);
}

[[gnu::noinline]] DAT_RETURN fail_cno_wait(void* caller, DAT_CNO_HANDLE cno, DAT_TIMEOUT timeout, DAT_EVD_HANDLE* evd) {
  const api::KnownPlace place(caller);
  const Fate fate = fate_of<object::ConsumerNotification>(cno, timeout);
  return fate == Fate::kGoesOn ? next.cno_wait_func(cno, timeout, evd) : answer_of(fate);
}

DAT_RETURN wait_for_cno(DAT_CNO_HANDLE cno, DAT_TIMEOUT timeout, DAT_EVD_HANDLE* evd) {
  return object::call_deferring_cancellation(fail_cno_wait, __builtin_return_address(0), cno, timeout, evd);
}

}  // namespace

void fail_waits(DAT_PROVIDER& table) {
  // The tables of all adapters have the same entries, but for one that stays as it is.
  static std::once_flag once;
  std::call_once(once, [&] { next = table; });
  SOFTDAT_DEBUG_CHECK(next.evd_wait_func == table.evd_wait_func && next.cno_wait_func == table.cno_wait_func,
                      "the tables of all adapters have the same waits");
  table.evd_wait_func = wait;
  table.cno_wait_func = wait_for_cno;
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
