// SPDX-License-Identifier: BSD-2-Clause
// What is said of a fault that ends the process: whose instruction it was. So a crash of a program can be told from one
// of SoftDAT.
#pragma once

#include <signal.h>

#include <cstdint>

namespace softdat::base {

struct FatalFault {
  int signal;              // SIGSEGV or SIGBUS
  bool is_write;           // else it is a read
  bool has_address;        // the processor does not give each one
  std::uintptr_t address;  // that the instruction wanted
  std::uintptr_t instruction;
};

// Writes a line to standard error: "softdat[PID]: SIGSEGV ends the process: PROGRAM+0x1c reads at address 0x8", where
// the offset is that in the file (addr2line(1)), if SOFTDAT_LOG allows errors. REQUIRES: prepare_fault_notice() was
// called. Async-signal-safe.
void tell_of_fatal_fault(const FatalFault& fault);

// Reads SOFTDAT_LOG, which a signal handler must not do.
void prepare_fault_notice();

}  // namespace softdat::base
