// SPDX-License-Identifier: BSD-2-Clause
// Memory that the C library and the kernel use for threads, which must not be moved.
#pragma once

#include <cstdint>

namespace softdat::memory {

// The size of a thread's control block, as the C library tells debuggers; 4096 if it does not. A block lies at the
// upper end of a stack, so with too large a size the pages above the stack would seem to be a part of it.
std::uint64_t control_block_bytes();

// Whether [begin, end), whole pages, overlaps the calling thread's stack near the present stack pointer, or its control
// block, in which the C library keeps errno and the kernel stores when the thread changes processors. The main thread's
// control block counts for all callers, because it lies in memory that looks like any other.
bool is_in_use_by_threads(std::uint64_t begin, std::uint64_t end);

}  // namespace softdat::memory
