// SPDX-License-Identifier: BSD-2-Clause
#include "memory/thread_memory.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>

#include "base/made_once.h"

namespace softdat::memory {
namespace {

// Bytes around the present stack frame that count as stack, both ways.
constexpr std::uint64_t kMargin = std::uint64_t{64} << 10;
// More than the C library's control block takes, the kernel's part of it included.
constexpr std::uint64_t kMostControlBytes = 4096;

// The main thread's control block, which stays where it is; 0 when the library was loaded by another thread.
std::uint64_t main_control = 0;

std::uint64_t own_control() {
  return static_cast<std::uint64_t>(::pthread_self());
}

[[gnu::constructor]] void note_main_thread() {
  if (::syscall(SYS_gettid) == ::getpid()) main_control = own_control();
}

bool touches(std::uint64_t begin, std::uint64_t end, std::uint64_t from, std::uint64_t until) {
  return begin < until && from < end;
}

}  // namespace

std::uint64_t control_block_bytes() {
  static constinit base::FoundOnce<std::uint64_t> bytes;
  return bytes.get([] {
    const void* const found = ::dlsym(RTLD_DEFAULT, "_thread_db_sizeof_pthread");
    const std::uint64_t told = found == nullptr ? 0 : *static_cast<const std::uint32_t*>(found);
    return told == 0 || told > kMostControlBytes ? kMostControlBytes : told;
  });
}

bool is_in_use_by_threads(std::uint64_t begin, std::uint64_t end) {
  const auto here = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
  // The moving thread itself stores there: the C library into errno, the kernel into the control block.
  const auto error = reinterpret_cast<std::uint64_t>(&errno);
  if (touches(begin, end, here - kMargin, here + kMargin)) return true;
  if (touches(begin, end, error, error + sizeof errno)) return true;
  for (const std::uint64_t control : {own_control(), main_control}) {
    if (control != 0 && touches(begin, end, control, control + control_block_bytes())) return true;
  }
  return false;
}

}  // namespace softdat::memory
