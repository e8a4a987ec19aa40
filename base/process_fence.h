// SPDX-License-Identifier: BSD-2-Clause
// Memory fences for two processes that only one of them executes (membarrier(2)). Two threads that each store a word
// and then load the other's need a full fence each in between. The one that does so seldom may call fence_everyone(),
// which fences both; the other one then needs none.
//
// Threads: any. Errors: false, where the kernel has no such call (before Linux 4.16), or forbids it. A seccomp filter
// that kills for unknown calls has to allow membarrier(2).
#pragma once

namespace softdat::base {

// Once this has returned true, fence_everyone() of any process fences the threads of this one, too. May be repeated.
// The first call takes some 10 ms in a process with several threads, and a microsecond in one with a single thread.
bool join_fences();
// As join_fences() in a process with a single thread. Else only says whether the process has joined already.
bool join_fences_if_quick();

// A full fence in the calling thread, and then in each thread that runs in a process that has joined. Takes some
// microseconds, and interrupts those threads.
[[nodiscard]] bool fence_everyone();

}  // namespace softdat::base
