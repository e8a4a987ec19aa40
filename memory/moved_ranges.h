// SPDX-License-Identifier: BSD-2-Clause
// MovedRanges: where in the arena's file moved memory lies, and how much has been moved since that was last compared
// with what the consumer still has mapped.
//
// May name too much, never too little: pages that were to be moved and were not, and pages that the consumer has
// unmapped.
//
// Threads: REQUIRES the arena's lock. Errors: std::bad_alloc, without any effect.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "memory/file_range.h"

namespace softdat::memory {

class MovedRanges {
 public:
  // Memory is about to come to lie there. Before the move, because it takes memory.
  void add(const FileRange& range);
  // False: some of it does not lie there.
  bool may_contain(const FileRange& range) const;
  // So many bytes have been moved.
  void note_moved(std::uint64_t bytes) { moved_since_ += bytes; }
  std::uint64_t moved_since_last_look() const { return moved_since_; }
  // Forgets all but `views`, which are what the consumer has mapped of the file. Returns what has been forgotten: its
  // pages can be given back.
  std::vector<FileRange> keep_only(std::vector<FileRange> views);
  // Forgets all ranges. The child of a fork calls it, because its memory does not lie in the file.
  void clear() { ranges_.clear(); }

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_;  // begin > end, apart from each other
  std::uint64_t moved_since_ = 0;
};

}  // namespace softdat::memory
