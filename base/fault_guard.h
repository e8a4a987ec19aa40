// SPDX-License-Identifier: BSD-2-Clause
// Access to the consumer's memory, which may fault. Another thread may unmap, truncate or protect it in the middle of a
// copy, so a check before the access proves nothing.
//
// Each guarded instruction has an entry in a table of this library: its address, and where execution continues when it
// faults. A handler of SIGSEGV and SIGBUS looks the faulting instruction up there. Any other fault goes to the handler
// that was installed before ours. A guarded access without a fault costs nothing extra.
// docs/decisions/0016-faults-are-protection-errors.md gives the reasons.
#pragma once

#include <cstddef>
#include <cstdint>

namespace softdat::base {

// Installs the handlers, or installs them again if the program has replaced them. Any thread. Costs two system calls
// when there is nothing to do. Returns false if the system refuses, or if the program has replaced them too often; a
// fault of a guarded instruction is then like any other fault.
bool install_fault_guard();

// Hears of accesses to memory that is there and protected. In a signal handler: it may neither allocate nor wait for
// what the interrupted thread holds. `is_library`: a guarded instruction. True: the access is tried again.
using FaultWatcher = bool (*)(std::uint64_t address, std::uint64_t instruction, bool is_write, bool is_library);
// REQUIRES: install_fault_guard(). There is one; it stays.
void set_fault_watcher(FaultWatcher watcher);
// Whether it hears of anything on this processor.
bool can_watch_faults();

// How this thread may touch the consumer's memory. The kernel ends a process whose thread faults while it blocks the
// signal, so the mask is looked at once per thread.
enum class FaultMode : std::uint8_t {
  kUnknown,  // look_up_fault_mode() tells
  kHandler,  // the thread takes the signals: guarded instructions
  kKernel,   // the thread blocks them, or the processor has no guarded instructions: copies by the kernel
};
[[gnu::tls_model("initial-exec")]] extern thread_local constinit FaultMode fault_mode;
FaultMode look_up_fault_mode();

// Whether this thread may use guarded instructions.
inline bool has_guarded_instructions() {
#if defined(__x86_64__)
  return fault_mode == FaultMode::kHandler ||
         (fault_mode == FaultMode::kUnknown && look_up_fault_mode() == FaultMode::kHandler);
#else
  return false;
#endif
}

// Copies in ascending order, the last word by itself, with one or two system calls. Returns false on a fault; some
// bytes may then have been copied.
[[nodiscard]] bool copy_by_kernel(std::byte* to, const std::byte* from, std::size_t length);

}  // namespace softdat::base

#if defined(__x86_64__)
// For `asm goto`: guards the instructions between the local labels 8 and 9. After a fault execution continues at the C
// label. The table entry is in the section group of its function, so the linker keeps or drops both.
#define SOFTDAT_GUARDED(instructions, label)                \
  "8: " instructions                                        \
  "\n9:\n"                                                  \
  ".pushsection softdat_guarded, \"a?\", @progbits\n"       \
  ".balign 4\n.long 8b - .\n.long 9b - .\n.long %l[" #label \
  "] - .\n"                                                 \
  ".popsection\n"
#endif
