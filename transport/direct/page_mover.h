// SPDX-License-Identifier: BSD-2-Clause
// PageMover: changes what backs pages of this process while its threads go on using them. Every byte
// that a thread stores before, during or after is there afterwards.
//
// How: the pages are write-protected by userfaultfd, so that a thread that stores into them waits;
// their bytes are copied into the file; the file is mapped over them; the waiting threads go on.
// Reading threads notice nothing. Where the kernel lets us only have faults of user code
// (UFFD_USER_MODE_ONLY: without privileges the rule), a system call of another thread that stores into
// one of these pages in this very moment (some 30 us per piece) fails with EFAULT instead of
// waiting: docs/decisions/0007-direct-access.md.
//
// The moving thread must not store into the pages itself, so it uses nothing but its own stack, and
// blocks signals meanwhile. Its calls of the kernel go around the C library, because sanitizers
// would take their effects for accesses of ours.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/unique_fd.h"

namespace softdat::transport::direct {

// One thread at a time.
class PageMover {
 public:
  // False for ever when the system has no such thing, or forbids it.
  bool is_able();

  // Moves [begin, end), whole pages of plain memory and not of the caller's stack, to `offset` of
  // `file`. False: all from some page on is as it was.
  bool move(std::uint64_t begin, std::uint64_t end, int file, std::uint64_t offset);

 private:
  bool open();
  bool move_piece(std::uint64_t begin, std::uint64_t length, int file, std::uint64_t offset);

  base::UniqueFd faults_;
  bool was_tried_ = false;
};

}  // namespace softdat::transport::direct
