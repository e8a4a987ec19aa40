// SPDX-License-Identifier: BSD-2-Clause
// Asks the kernel about memory that a consumer names, without touching it.
#pragma once

#include <cstdint>

namespace softdat::object {

// Which shared memory it is, the same in every process that has it mapped.
struct SharedIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t offset = 0;  // of the range's first byte
  friend bool operator==(const SharedIdentity&, const SharedIdentity&) = default;
};

struct MemoryNature {
  bool is_accessible = false;  // every byte is there and may be read (and written, when asked) now
  bool is_shared = false;      // all of it is mapped shared
  SharedIdentity identity;     // of shared memory: where the range begins; private memory has none
};

// Of the process's map: what is asked about where the kernel can be asked (Linux 6.11), or always the whole text.
enum class MapReading { kWanted, kAll };

// Of [address, address + length), which must not be empty or wrap. Pages of a mapped file beyond the
// file's end are not there, though they are mapped; the main thread's stack is there before it has
// grown.
MemoryNature look_at_memory(std::uint64_t address, std::uint64_t length, bool is_written,
                            MapReading reading = MapReading::kWanted);

// Whether every byte of it could be read now; costs less than a look, for what a consumer has us read in passing.
bool is_readable(std::uint64_t address, std::uint64_t length);

inline bool is_accessible(std::uint64_t address, std::uint64_t length, bool is_written) {
  return look_at_memory(address, length, is_written).is_accessible;
}

}  // namespace softdat::object
