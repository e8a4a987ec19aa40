// SPDX-License-Identifier: BSD-2-Clause
// ForkCopies: copies of what the consumer's views of the arena's file show at the moment of a fork. The child must
// neither see what the parent stores from then on nor be seen, so the copies take the place of the views there.
//
// Owns the list and, in the parent, the copies. Both are mappings of their own: no function here uses malloc, whose
// memory may be what is being replaced.
//
// Threads: REQUIRES the arena's lock, in the fork handlers of the thread that forks. Errors: none. Out of memory, or
// where the file cannot be read, a view gets no copy: the child sees the file's pages there until it stores. If there
// is not even memory to store into, the child can only read there, and a store is a SIGSEGV of the child.
#pragma once

#include <cstddef>

#include "memory/address_map.h"
#include "memory/file_range.h"

namespace softdat::memory {

class ForkCopies {
 public:
  // Before the fork: make_room() for that many, then add() for each view, then read().
  void make_room(std::size_t copies);
  // Gets memory for a copy, if there is room.
  void add(const FileRange& range);
  void read(int file);

  // In the parent: drops the copies.
  void drop();

  // In the child, for each view that is there now: replaces it by private memory with the copied bytes.
  void replace(const Mapping& view, int file) const;
  // In the child, after that: forgets the copies. A copy that replace() did not use stays mapped, because the list does
  // not tell which were used.
  void forget();

 private:
  // `bytes` is null when there is no memory for it.
  struct Copy {
    FileRange range;
    char* bytes;
  };

  Copy* copies_ = nullptr;
  std::size_t count_ = 0;
  std::size_t room_ = 0;
};

}  // namespace softdat::memory
