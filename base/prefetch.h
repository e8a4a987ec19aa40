// SPDX-License-Identifier: BSD-2-Clause
// prefetch_to_write(): asks the processor for a cache line that is about to be written, so that the store need not wait
// until other processors have given the line up. A hint: any address will do, and no access happens.
#pragma once

namespace softdat::base {

// Any thread.
inline void prefetch_to_write(const void* line) {
#if defined(__x86_64__)
  // The compilers write PREFETCHW only for processors that are known to count it as a feature; for others they fetch a
  // copy to read, and the store then waits all the same. A 64-bit processor without the feature ignores the
  // instruction.
  asm volatile("prefetchw (%0)" : : "r"(line));
#else
  __builtin_prefetch(line, 1);
#endif
}

}  // namespace softdat::base
