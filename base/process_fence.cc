// SPDX-License-Identifier: BSD-2-Clause
#include "base/process_fence.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace softdat::base {

bool join_fences() {
  return ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

bool fence_everyone() {
  // The kernel fences the caller first, so that its stores are there before the others are fenced.
  return ::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) == 0;
}

}  // namespace softdat::base
