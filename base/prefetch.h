// SPDX-License-Identifier: BSD-2-Clause
// prefetch_to_write() fetches a cache line for writing, so that a later store need not wait until other processors have
// given the line up. A hint: it accepts any address, and accesses no memory.
#pragma once

namespace softdat::base {

// Any thread.
inline void prefetch_to_write(const void* line) {
#if defined(__x86_64__)
  // __builtin_prefetch(line, 1) becomes PREFETCHW only with -mprfchw. Otherwise it fetches the line for reading, and
  // the store waits all the same. A 64-bit processor without the feature ignores the instruction.
  asm volatile("prefetchw (%0)" : : "r"(line));
#else
  __builtin_prefetch(line, 1);
#endif
}

}  // namespace softdat::base
