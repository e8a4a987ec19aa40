// SPDX-License-Identifier: BSD-2-Clause
#include "memory/file_slabs.h"

#include <sys/mman.h>

#include "base/assert.h"
#include "memory/lock_places.h"

namespace softdat::memory {

std::optional<std::uint64_t> FileSlabs::offset_of(const AddressRange& range) {
  base::require_lock(locks::kArena);
  base::check(range.begin < range.end && range.begin % kPageBytes == 0, "a place is asked for whole pages", range.begin,
              range.end);
  const std::uint64_t base = range.begin / kSlabBytes * kSlabBytes;
  // A range over the end of its 64 GiB block has no place: two slabs need not be neighbours in the file.
  if (range.end - base > kSlabBytes) return std::nullopt;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    // 0 means free, hence the 1. A slab is never given back: its block of addresses keeps it for the arena's life.
    if (runs_[i] == 0) runs_[i] = base + 1;
    if (runs_[i] == base + 1) return i * kSlabBytes + (range.begin - base);
  }
  return std::nullopt;
}

bool FileSlabs::is_in_place(const Mapping& view) {
  base::require_lock(locks::kArena);
  return view.protection == (PROT_READ | PROT_WRITE) && offset_of({view.begin, view.end}) == view.file_offset;
}

}  // namespace softdat::memory
