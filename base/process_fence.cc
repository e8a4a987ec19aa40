// SPDX-License-Identifier: BSD-2-Clause
#include "base/process_fence.h"

#include <linux/membarrier.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace softdat::base {
namespace {

// A child of fork() has inherited the registration.
enum class Joining : std::uint8_t { kNotTried, kDone, kRefused };
std::atomic<Joining> g_joining{Joining::kNotTried};

bool command(int what) {
  return ::syscall(SYS_membarrier, what, 0, 0) == 0;
}

}  // namespace

bool join_fences() {
  Joining joining = g_joining.load(std::memory_order_acquire);
  if (joining == Joining::kNotTried) {
    joining = command(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) ? Joining::kDone : Joining::kRefused;
    g_joining.store(joining, std::memory_order_release);
  }
  return joining == Joining::kDone;
}

// In a process with several threads the kernel waits for an RCU grace period, some milliseconds.
bool join_fences_if_quick() {
  return __libc_single_threaded != 0 ? join_fences() : g_joining.load(std::memory_order_acquire) == Joining::kDone;
}

// The kernel fences the caller first, so that its stores are there before the others are fenced.
bool fence_everyone() {
  return command(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}

}  // namespace softdat::base
