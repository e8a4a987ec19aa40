// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace softdat::base {

// Tells the processor that this thread spins. Does nothing where there is no such instruction.
inline void pause_processor() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

}  // namespace softdat::base
