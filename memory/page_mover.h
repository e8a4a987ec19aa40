// SPDX-License-Identifier: BSD-2-Clause
// PageMover: changes what backs pages of this process while its threads go on using them. Every byte
// that a thread stores before, during or after is there afterwards.
//
// How: the pages are write-protected by userfaultfd, so that a thread that stores into them waits;
// their bytes are copied into the file; the file is mapped over them; the waiting threads go on.
// Reading threads notice nothing. Where the kernel lets us only have faults of user code
// (UFFD_USER_MODE_ONLY: without privileges the rule), a system call of another thread that stores into
// one of these pages in this very moment (some 30 us per piece) fails with EFAULT instead of
// waiting: docs/decisions/0007-direct-access.md. Hence MoveWhen, and, for our own threads, MoveWatch.
//
// The moving thread must not store into the pages itself, so it uses nothing but its own stack, and
// blocks signals meanwhile. Its calls of the kernel go around the C library, because sanitizers
// would take their effects for accesses of ours.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/unique_fd.h"

namespace softdat::memory {

// When pages may be moved.
enum class MoveWhen : std::uint8_t {
  kHarmless,  // when no system call of the consumer's can fail for it: it waits, or there is no thread to make it
  kAlways,
};

enum class MoveResult : std::uint8_t { kMoved, kDisturbing, kFailed };

// For system calls of ours that store into the consumer's memory. Made before such a call; was_disturbed() after one
// that failed with EFAULT says whether pages were being moved meanwhile, so that it is worth another try. It returns
// when they are no longer being moved.
class MoveWatch {
 public:
  MoveWatch();
  bool was_disturbed();

 private:
  std::uint64_t seen_;
};

// One thread at a time.
class PageMover {
 public:
  // False for ever when the system has no such thing, or forbids it.
  bool is_able();

  // Whether the system calls of others wait while pages move. After is_able().
  bool holds_system_calls() const { return holds_system_calls_; }
  // As if the system let us have faults of user code only. Before anything else.
  void forgo_system_calls() { may_hold_system_calls_ = false; }

  // Moves [begin, end), whole pages of plain memory and not of the caller's stack, to `offset` of
  // `file`. Otherwise all from some page on is as it was.
  MoveResult move(std::uint64_t begin, std::uint64_t end, int file, std::uint64_t offset, MoveWhen when);

 private:
  bool open();
  MoveResult move_piece(std::uint64_t begin, std::uint64_t length, int file, std::uint64_t offset, MoveWhen when);
  bool swap_backing(std::uint64_t begin, std::uint64_t length, int file, std::uint64_t offset);

  base::UniqueFd faults_;
  bool was_tried_ = false;
  bool may_hold_system_calls_ = true;
  bool holds_system_calls_ = false;
};

}  // namespace softdat::memory
