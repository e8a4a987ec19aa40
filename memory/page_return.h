// SPDX-License-Identifier: BSD-2-Clause
// The reverse of a move (page_mover.h): replaces pages of a shared file by private pages with the same bytes, while
// threads use them. Other processes that have the file mapped no longer reach this process's memory.
#pragma once

#include <cstdint>

namespace softdat::memory {

// A shared mapping of the file at [begin, end); `protection` as for mmap().
struct SharedPages {
  std::uint64_t begin;
  std::uint64_t end;
  int protection;
  std::uint64_t offset;  // in the file
};

// Loses no store of a thread or a system call, and makes none fail. Needs no userfaultfd and no privilege. False if
// there is no memory for the copies; pages that are not written afterwards then still show the file.
bool return_pages(const SharedPages& pages, int file);

}  // namespace softdat::memory
