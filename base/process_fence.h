// SPDX-License-Identifier: BSD-2-Clause
// Fences between processes that one side pays for (membarrier(2)). Two threads that each store a word and then load the
// other's need a full fence each in between. If one of them does so seldom, it can call fence_everyone() instead, which
// fences the other, too: that one then needs none.
//
// Threads: any. Errors: false, where the kernel has no such call (before Linux 4.16), or forbids it.
#pragma once

namespace softdat::base {

// From now on, fence_everyone() of any process fences the threads of this one, too. May be repeated. A child of fork()
// calls it anew.
[[nodiscard]] bool join_fences();

// A full fence in the calling thread, and then in each thread that runs in a process that has joined. Takes some
// microseconds, and interrupts those threads.
[[nodiscard]] bool fence_everyone();

}  // namespace softdat::base
