// SPDX-License-Identifier: BSD-2-Clause
#include "base/fault_notice.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>

#include <array>
#include <cstdio>

#include "base/log.h"
#include "base/place.h"

namespace softdat::base {
namespace {

// dladdr() takes a lock that the faulting thread may hold; _dl_find_object() takes none.
void write_place(std::uintptr_t instruction, char* to, std::size_t size) {
  dl_find_object found{};
  void* const code = reinterpret_cast<void*>(instruction);  // NOLINT(performance-no-int-to-ptr)
  if (_dl_find_object(code, &found) != 0) {
    std::snprintf(to, size, "code at %#zx", instruction);
    return;
  }
  const link_map& file = *found.dlfo_link_map;
  const bool is_program = file.l_name[0] == '\0';
  const char* const name = is_program ? program_invocation_short_name : file_name(file.l_name).data();
  std::snprintf(to, size, "%s+%#zx", name, instruction - file.l_addr);
}

}  // namespace

void prepare_fault_notice() {
  // Initializes its static, which takes a guard that a signal handler must not wait for.
  static_cast<void>(is_logged(LogLevel::kError));
}

void tell_of_fatal_fault(const FatalFault& fault) {
  if (!is_logged(LogLevel::kError)) return;
  // Runs in a signal handler: no allocation, and no lock.
  std::array<char, 200> place;
  write_place(fault.instruction, place.data(), place.size());
  std::array<char, 400> text;
  const char* const name = fault.signal == SIGBUS ? "SIGBUS" : "SIGSEGV";
  if (fault.has_address) {
    std::snprintf(text.data(), text.size(), "%s ends the process: %s %s at address %#zx", name, place.data(),
                  fault.is_write ? "writes" : "reads", fault.address);
  } else {
    std::snprintf(text.data(), text.size(), "%s ends the process: %s uses an impossible address", name, place.data());
  }
  write_text(text.data());
}

}  // namespace softdat::base
