// SPDX-License-Identifier: BSD-2-Clause
// Access to memory that may fault: the consumer's. It can be unmapped, truncated or protected at any moment, also by
// another thread in the middle of a copy, so a check before the access proves nothing.
//
// Each guarded instruction has an entry in a table of this library: where it stands, and where to go on when it faults.
// A handler of SIGSEGV and SIGBUS looks the faulting instruction up there. A fault anywhere else goes to the handler
// that was installed before, as if ours were not there. Without a fault a guarded access costs nothing.
// docs/decisions/0016-faults-are-protection-errors.md.
#pragma once

#include <cstddef>
#include <cstdint>

namespace softdat::base {

// Installs the handlers, or puts them on top again if the program has replaced them. Any thread; two system calls when
// there is nothing to do. False: the system refuses, or the program has replaced them too often; accesses then fault as
// any other code.
bool install_fault_guard();

// The kernel ends a process whose thread faults while it blocks the signal. Whether this thread's guarded instructions
// work is therefore looked up once per thread.
enum class FaultMode : std::uint8_t {
  kUnknown,  // look_up_fault_mode() tells
  kHandler,  // the thread takes the signals: guarded instructions
  kKernel,   // the thread blocks them, or the processor has no guarded instructions: copies by the kernel
};
[[gnu::tls_model("initial-exec")]] extern thread_local constinit FaultMode fault_mode;
FaultMode look_up_fault_mode();

// Whether guarded instructions may be used here and now.
inline bool has_guarded_instructions() {
#if defined(__x86_64__)
  return fault_mode == FaultMode::kHandler ||
         (fault_mode == FaultMode::kUnknown && look_up_fault_mode() == FaultMode::kHandler);
#else
  return false;
#endif
}

// Copies in ascending order, the last word by itself, with one system call or two. False: a fault, and part of it may
// have been copied.
[[nodiscard]] bool copy_by_kernel(std::byte* to, const std::byte* from, std::size_t length);

}  // namespace softdat::base

#if defined(__x86_64__)
// Within an `asm goto`: the instructions between the local labels 8 and 9 are guarded, and a fault among them goes on
// at the C label. The entry belongs to the same section group as its function, so the linker keeps or drops both.
#define SOFTDAT_GUARDED(instructions, label)                \
  "8: " instructions                                        \
  "\n9:\n"                                                  \
  ".pushsection softdat_guarded, \"a?\", @progbits\n"       \
  ".balign 4\n.long 8b - .\n.long 9b - .\n.long %l[" #label \
  "] - .\n"                                                 \
  ".popsection\n"
#endif
