// SPDX-License-Identifier: BSD-2-Clause
// FileRange: a range of bytes in an arena's file. The file has kSlabs slabs of kSlabBytes. Each slab stands for
// a run of the owner's addresses of the same length, so memory that is contiguous at the owner is contiguous in the
// file.
#pragma once

#include <cstddef>
#include <cstdint>

namespace softdat::memory {

inline constexpr std::size_t kSlabs = 16;
inline constexpr std::uint64_t kSlabBytes = std::uint64_t{64} << 30;
inline constexpr std::uint64_t kArenaBytes = kSlabs * kSlabBytes;
inline constexpr std::uint64_t kPageBytes = 4096;

// Offsets in bytes: [begin, end).
struct FileRange {
  std::uint64_t begin;
  std::uint64_t end;
};
constexpr FileRange whole_pages(std::uint64_t offset, std::uint64_t length) {
  return {offset / kPageBytes * kPageBytes, (offset + length + kPageBytes - 1) / kPageBytes * kPageBytes};
}
constexpr bool overlap(const FileRange& a, const FileRange& b) {
  return a.begin < b.end && b.begin < a.end;
}
constexpr FileRange common_part(const FileRange& a, const FileRange& b) {
  return {a.begin < b.begin ? b.begin : a.begin, a.end < b.end ? a.end : b.end};
}

}  // namespace softdat::memory
