// SPDX-License-Identifier: BSD-2-Clause
// For test programs that link tests/scarce_memory.cc, which replaces operator new.
#pragma once

namespace softdat::scarce_memory {

// How many more calls of operator new succeed in this thread; negative: all. The one after them throws bad_alloc.
extern constinit thread_local int allocations_left;

}  // namespace softdat::scarce_memory
