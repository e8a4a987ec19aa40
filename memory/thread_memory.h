// SPDX-License-Identifier: BSD-2-Clause
// Memory that threads use without naming it, so that it cannot stand still under them.
#pragma once

#include <cstdint>

namespace softdat::memory {

// Whether [begin, end), whole pages, touches what the calling thread needs to move pages: its stack around here, and
// its control block, in which the C library keeps errno and the kernel stores when the thread changes processors. The
// main thread's block counts for all threads: the loader maps it like plain memory, while others' lie behind a guard.
bool is_in_use_by_threads(std::uint64_t begin, std::uint64_t end);

}  // namespace softdat::memory
