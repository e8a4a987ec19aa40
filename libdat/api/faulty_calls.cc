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

using Fate = hca::Device::WaitFate;

// The entry points that these call. Written before the registry has the table.
constinit DAT_PROVIDER next{};

// What the plan has in store for a wait on an object of the IA. A poll is no wait: how often a program polls differs
// from run to run.
Fate fate_of(const object::InterfaceAdapter& ia, DAT_TIMEOUT timeout) {
  return timeout == 0 ? Fate::kGoesOn : ia.device().decide_wait(timeout != DAT_TIMEOUT_INFINITE);
}

// Whether the wait is refused before it waits. The plan does not see such a call.
bool is_refused(object::EventDispatcher& evd, DAT_COUNT threshold, const DAT_EVENT* event, const DAT_COUNT* more) {
  return threshold < 1 || threshold > evd.queue().length() || event == nullptr || more == nullptr ||
         !evd.waiting().is_waitable();
}

[[gnu::noinline]] DAT_RETURN fail_wait(void* caller, DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout, DAT_COUNT threshold,
                                       DAT_EVENT* event, DAT_COUNT* more) {
  const api::KnownPlace place(caller);
  Fate fate = Fate::kGoesOn;
  DAT_COUNT left = 0;
  {
    const auto pinned = pin_handle<object::EventDispatcher>(evd);
    if (pinned && !is_refused(*pinned, threshold, event, more)) {
      fate = fate_of(pinned->ia(), timeout);
      left = pinned->queue().size();
    }
  }
  if (fate == Fate::kGoesOn) return next.evd_wait_func(evd, timeout, threshold, event, more);
  // The EVD must not be pinned here: if `more` is a wrong address, a handler of SIGSEGV may jump out of the call.
  *more = left;
  return return_code(fate == Fate::kTimedOut ? object::timeout_expired() : object::interrupted_call());
}

DAT_RETURN wait(DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout, DAT_COUNT threshold, DAT_EVENT* event, DAT_COUNT* more) {
  return object::call_deferring_cancellation(fail_wait, __builtin_return_address(0), evd, timeout, threshold, event,
                                             more);
}

[[gnu::noinline]] DAT_RETURN fail_cno_wait(void* caller, DAT_CNO_HANDLE cno, DAT_TIMEOUT timeout, DAT_EVD_HANDLE* evd) {
  const api::KnownPlace place(caller);
  Fate fate = Fate::kGoesOn;
  if (evd != nullptr) {
    const auto pinned = pin_handle<object::ConsumerNotification>(cno);
    if (pinned) fate = fate_of(pinned->ia(), timeout);
  }
  if (fate == Fate::kGoesOn) return next.cno_wait_func(cno, timeout, evd);
  if (fate == Fate::kInterrupted) return return_code(object::interrupted_call());
  // As a CNO says that its time is over (dat_cno_wait(3DAT)).
  *evd = DAT_HANDLE_NULL;
  return return_code(object::queue_empty(true));
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
