// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/cancellable_sleep.h"

#include <pthread.h>

namespace softdat::object {
namespace {

// A thread may die at any instruction in here. So there is nothing that needs unwinding, and the
// frame stays one of its own.
[[gnu::noinline]] base::WakeReason sleep_mortally(base::EventCount& count, base::EventCount::Ticket ticket,
                                                  base::Time deadline) {
  int ignored;
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &ignored);
  const base::WakeReason reason = count.wait(ticket, deadline);
  pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &ignored);
  return reason;
}

}  // namespace

base::WakeReason Sleeper::sleep(hca::Device& device, base::Time deadline, bool is_cancelled_asynchronously) {
  // wait() takes the waiter off the count itself; when it is left by unwinding, the destructor does.
  const base::WakeReason reason =
      is_cancelled_asynchronously ? sleep_mortally(count_, ticket_, deadline) : device.sleep(count_, ticket_, deadline);
  is_waiting_ = false;
  return reason;
}

}  // namespace softdat::object
