// SPDX-License-Identifier: BSD-2-Clause
// The reverse of a move (page_mover.h): gives memory of this process private pages again in place of pages of a shared
// file, while its threads go on using it. Whoever else has the file mapped no longer reaches that memory.
#pragma once

#include <cstdint>

namespace softdat::memory {

// A view of the file, mapped shared at [begin, end) with that protection, as of mmap().
struct SharedPages {
  std::uint64_t begin;
  std::uint64_t end;
  int protection;
  std::uint64_t offset;  // in the file
};

// Every byte keeps its value, and no store of a thread or a system call is lost or fails. Needs no userfaultfd and no
// privilege. False when the system has no memory for it: pages that have not been stored into since still show the
// file.
bool return_pages(const SharedPages& pages, int file);

}  // namespace softdat::memory
