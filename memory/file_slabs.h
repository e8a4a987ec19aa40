// SPDX-License-Identifier: BSD-2-Clause
// FileSlabs: which slab of the arena's file stands for which run of the owner's addresses (file_range.h). A slab
// is assigned when an address in its run is first asked for, and keeps it.
//
// Threads: REQUIRES the arena's lock. Errors: an address has no place when all slabs stand for others.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "memory/address_map.h"
#include "memory/file_range.h"

namespace softdat::memory {

// Addresses of this process: [begin, end).
struct AddressRange {
  std::uint64_t begin;
  std::uint64_t end;
};

class FileSlabs {
 public:
  // The offset of a range that is not empty and begins with a page. A range that leaves its slab has no place. Assigns
  // a slab if none serves these addresses yet.
  std::optional<std::uint64_t> offset_of(const AddressRange& range);
  // The same, but a range without a slab has no place.
  std::optional<std::uint64_t> find(const AddressRange& range) const;
  // Whether a view of the file shows the bytes that have their place at its addresses, and may be read and written. The
  // consumer may have moved it with mremap(), or protected it.
  bool is_in_place(const Mapping& view) const;

 private:
  std::array<std::uint64_t, kSlabs> runs_{};  // the address at which each begins, plus one; 0: not assigned
};

}  // namespace softdat::memory
