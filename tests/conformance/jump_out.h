// SPDX-License-Identifier: BSD-2-Clause
// A program that survives its own faults, as some servers do: its handler of SIGSEGV jumps out of the call.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csetjmp>
#include <csignal>

namespace softdat::conformance {

inline sigjmp_buf out_of_the_call;

// Calls `call` with the address of a page that cannot be written. Fails the test unless the handler left the call.
template <typename Call>
void jump_out_of(Call&& call) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const nowhere = ::mmap(nullptr, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(nowhere, MAP_FAILED);
  struct sigaction before = {};
  struct sigaction jump = {};
  jump.sa_handler = [](int) { ::siglongjmp(out_of_the_call, 1); };
  ASSERT_EQ(::sigaction(SIGSEGV, &jump, &before), 0);
  if (sigsetjmp(out_of_the_call, 1) == 0) {
    call(nowhere);
    ADD_FAILURE() << "the page was written";
  }
  ASSERT_EQ(::sigaction(SIGSEGV, &before, nullptr), 0);
  ::munmap(nowhere, page);
}

}  // namespace softdat::conformance
