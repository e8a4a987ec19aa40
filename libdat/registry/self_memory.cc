// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/registry/self_memory.h"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace softdat::registry {
namespace {

constexpr std::size_t kPageSize = 4096;

// The kernel copies a signal set in before it looks at `how`, so an impossible `how` answers EFAULT
// for an unreadable address and EINVAL otherwise, and changes nothing.
bool is_word_readable(std::uintptr_t word) {
  constexpr long kImpossibleHow = ~0L;
  constexpr std::size_t kKernelSignalSet = 8;
  if (word == 0) return false;  // the kernel takes a null set for "no set"
  ::syscall(SYS_rt_sigprocmask, kImpossibleHow, word, nullptr, kKernelSignalSet);
  return errno != EFAULT;
}

}  // namespace

bool read_self_by_probing(const void* address, void* destination, std::size_t size) {
  const auto start = reinterpret_cast<std::uintptr_t>(address);
  if (start + size < start) return false;
  for (std::uintptr_t at = start; at < start + size; at = (at | (kPageSize - 1)) + 1) {
    if (!is_word_readable(at & ~std::uintptr_t{7})) return false;
  }
  std::memcpy(destination, address, size);
  return true;
}

bool read_self(const void* address, void* destination, std::size_t size) {
  const int saved = errno;
  const iovec local{destination, size};
  const iovec remote{const_cast<void*>(address), size};
  const ssize_t got = ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0);
  bool is_read = got == static_cast<ssize_t>(size);
  // The call may be forbidden (seccomp, a hidden /proc). Then probe.
  if (got < 0 && errno != EFAULT) is_read = read_self_by_probing(address, destination, size);
  errno = saved;
  return is_read;
}

std::optional<std::string> read_text(const char* text, std::size_t longest) {
  std::string result;
  auto at = reinterpret_cast<std::uintptr_t>(text);
  while (result.size() <= longest) {
    std::array<char, 256> block;
    // The text may end right before a page that is not mapped.
    const std::size_t to_page_end = kPageSize - at % kPageSize;
    const std::size_t size = std::min(block.size(), to_page_end);
    if (!read_self(reinterpret_cast<const void*>(at), block.data(), size)) return std::nullopt;
    const auto* end = static_cast<const char*>(std::memchr(block.data(), '\0', size));
    result.append(block.data(), end == nullptr ? size : static_cast<std::size_t>(end - block.data()));
    if (end != nullptr) break;
    at += size;
  }
  if (result.size() > longest) return std::nullopt;
  return result;
}

}  // namespace softdat::registry
