// SPDX-License-Identifier: BSD-2-Clause
#include "memory/page_return.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assert.h"

namespace softdat::memory {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr int kReadWrite = PROT_READ | PROT_WRITE;
constexpr int kPopulateToWrite = 23;  // MADV_POPULATE_WRITE, Linux 5.14

}  // namespace

// A private mapping of the same bytes of the file takes the place of the shared one in one step of the kernel's: a
// store goes into the file before that, and into a private copy of its page, made of what the file holds then,
// afterwards. The kernel is then told to make these copies at once. The calls go around the C library, because
// sanitizers would take the memory for new.
bool return_pages(const SharedPages& pages, int file) {
  base::check(
      pages.begin < pages.end && pages.begin % kPage == 0 && pages.end % kPage == 0 && pages.offset % kPage == 0,
      "whole pages return", pages.begin, pages.end);
  const std::uint64_t length = pages.end - pages.begin;
  const long got = ::syscall(SYS_mmap, pages.begin, length, kReadWrite, MAP_PRIVATE | MAP_FIXED, file, pages.offset);
  if (got != static_cast<long>(pages.begin)) return false;
  // False: no memory for the copies. Pages that were not copied still show what the peer stores into the file.
  const bool is_copied = ::syscall(SYS_madvise, pages.begin, length, kPopulateToWrite) == 0;
  // In one piece mremap() could grow the mapping over what lies next in the file.
  ::syscall(SYS_madvise, pages.end - kPage, kPage, MADV_RANDOM);
  if (pages.protection != kReadWrite) ::syscall(SYS_mprotect, pages.begin, length, pages.protection);
  return is_copied;
}

}  // namespace softdat::memory
