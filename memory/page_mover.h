// SPDX-License-Identifier: BSD-2-Clause
// PageMover: moves pages of this process into a file while threads use them. No store is lost, whether it comes before,
// during or after the move.
//
// The mover write-protects the pages by userfaultfd, copies their bytes into the file, maps the file over them, and
// lets the threads go on that tried to store meanwhile. Readers notice nothing. Without privileges userfaultfd handles
// faults of user code only (UFFD_USER_MODE_ONLY): a system call of another thread that stores into these pages within
// some 30 us of the move fails with EFAULT (docs/decisions/0007-direct-access.md). MoveWhen avoids that for the
// consumer's threads, MoveWatch for the library's own.
//
// The moving thread must not store into the pages. So it uses its stack only and blocks signals, and it makes its
// system calls without the C library, because sanitizers would report their effects as accesses.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/unique_fd.h"

namespace softdat::memory {

// When pages may be moved.
enum class MoveWhen : std::uint8_t {
  kHarmless,  // only if no system call of the consumer's can fail: such calls wait, or no other thread can make one
  kAlways,
};

enum class MoveResult : std::uint8_t { kMoved, kDisturbing, kFailed };

// For the library's own system calls that store into the consumer's memory. Construct one before such a call. If the
// call fails with EFAULT, was_disturbed() waits until no pages are being moved, and says whether some were moved
// meanwhile: then the call should be repeated.
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
  // Whether the system allows it. The answer does not change.
  bool is_able();

  // Whether system calls of other threads wait while pages move. REQUIRES: is_able() was called.
  bool holds_system_calls() const { return holds_system_calls_; }
  // Acts as if the process had no privileges. REQUIRES: nothing was called before. For tests.
  void forgo_system_calls() { may_hold_system_calls_ = false; }

  // Moves [begin, end) to `offset` of `file`. REQUIRES: whole pages of MappingKind::kPlain that do not hold the
  // caller's stack. If the result is not kMoved, the pages from some point on are unchanged.
  MoveResult move(std::uint64_t begin, std::uint64_t end, int file, std::uint64_t offset, MoveWhen when);

 private:
  bool open();
  MoveResult move_piece(std::uint64_t begin, std::uint64_t length, int file, std::uint64_t offset, MoveWhen when);
  bool watch(std::uint64_t begin, std::uint64_t length);
  void release(std::uint64_t begin, std::uint64_t length);
  bool swap_backing(std::uint64_t begin, std::uint64_t length, int file, std::uint64_t offset);

  base::UniqueFd faults_;
  bool was_tried_ = false;
  bool may_hold_system_calls_ = true;
  bool holds_system_calls_ = false;
};

}  // namespace softdat::memory
