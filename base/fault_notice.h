// SPDX-License-Identifier: BSD-2-Clause
// The message about a fault that ends the process. It names the file of the faulting instruction, so that a user can
// tell a crash of the program from a crash of SoftDAT.
#pragma once

#include <signal.h>

#include <cstdint>

namespace softdat::base {

struct FatalFault {
  int signal;              // SIGSEGV or SIGBUS
  bool is_write;           // else it is a read
  bool has_address;        // false: the processor reports none
  std::uintptr_t address;  // that the instruction accessed
  std::uintptr_t instruction;
};

// Writes "softdat[PID]: SIGSEGV ends the process: PROGRAM+0x1c reads at address 0x8" to standard error if SOFTDAT_LOG
// allows errors. The offset counts from the start of the file, as addr2line(1) takes it. REQUIRES:
// prepare_fault_notice() was called. Async-signal-safe.
void tell_of_fatal_fault(const FatalFault& fault);

// Reads SOFTDAT_LOG, which a signal handler must not do.
void prepare_fault_notice();

}  // namespace softdat::base
