// SPDX-License-Identifier: BSD-2-Clause
#include "tests/conformance/waiter.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "tests/conformance/answers.h"

namespace softdat::conformance {
namespace {

void ignore_signal(int) {}

// SIGUSR1 interrupts system calls instead of killing the process.
void make_signal_interrupt(int flags) {
  struct sigaction action {};
  action.sa_handler = ignore_signal;
  action.sa_flags = flags;
  sigaction(SIGUSR1, &action, nullptr);
}

void interrupt_until(std::thread& thread, const std::atomic<bool>& done, int flags) {
  make_signal_interrupt(flags);
  static_cast<void>(eventually([&] {
    if (!done.load()) pthread_kill(thread.native_handle(), SIGUSR1);
    return done.load();
  }));
}

}  // namespace

EvdWaiter::EvdWaiter(DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout, DAT_COUNT threshold) : evd_(evd) {
  thread_ = std::thread([this, timeout, threshold] {
    id_.store(gettid());
    result_ = dat_evd_wait(evd_, timeout, threshold, &event_, &more_);
    done_.store(true);
  });
}

EvdWaiter::~EvdWaiter() {
  if (thread_.joinable()) thread_.join();
}

void EvdWaiter::await_blocked() const {
  const bool blocked = eventually([this] {
    DAT_EVENT event;
    return type_of(dat_evd_dequeue(evd_, &event)) == DAT_INVALID_STATE;
  });
  if (!blocked) throw SetupFailure("no waiter took the dispatcher");
  // It has the dispatcher, but may still be on its way to a first look at what is there.
  if (!await_asleep(id_.load())) throw SetupFailure("the waiter does not sleep");
}

void EvdWaiter::interrupt(int flags) {
  interrupt_until(thread_, done_, flags);
}

DAT_RETURN EvdWaiter::join() {
  if (thread_.joinable()) thread_.join();
  return result_;
}

CnoWaiter::CnoWaiter(DAT_CNO_HANDLE cno, DAT_TIMEOUT timeout)
    // Something that no dispatcher is: the wait must overwrite it.
    : evd_(reinterpret_cast<DAT_EVD_HANDLE>(this)) {
  thread_ = std::thread([this, cno, timeout] {
    id_.store(gettid());
    result_ = dat_cno_wait(cno, timeout, &evd_);
    done_.store(true);
  });
}

CnoWaiter::~CnoWaiter() {
  if (thread_.joinable()) thread_.join();
}

void CnoWaiter::await_blocked() const {
  const bool asleep = eventually([this] { return id_.load() != 0; }) && await_asleep(id_.load());
  if (!asleep) throw SetupFailure("the waiter does not sleep");
}

void CnoWaiter::interrupt(int flags) {
  interrupt_until(thread_, done_, flags);
}

DAT_RETURN CnoWaiter::join() {
  if (thread_.joinable()) thread_.join();
  return result_;
}

}  // namespace softdat::conformance
