// SPDX-License-Identifier: BSD-2-Clause
#include "memory/file_slabs.h"

#include <sys/mman.h>

#include <algorithm>

#include "base/assert.h"
#include "memory/lock_places.h"

namespace softdat::memory {
namespace {

std::uint64_t slab_block(const AddressRange& range) {
  return range.begin / kSlabBytes * kSlabBytes;
}

// Such a range has no place: two slabs need not be neighbours in the file.
bool leaves_block(const AddressRange& range) {
  return range.end - slab_block(range) > kSlabBytes;
}

}  // namespace

std::optional<std::uint64_t> FileSlabs::find(const AddressRange& range) const {
  base::require_lock(locks::kArena);
  base::check(range.begin < range.end && range.begin % kPageBytes == 0, "a place is asked for whole pages", range.begin,
              range.end);
  if (leaves_block(range)) return std::nullopt;
  const auto slab = std::ranges::find(runs_, slab_block(range) + 1);
  if (slab == runs_.end()) return std::nullopt;
  return static_cast<std::uint64_t>(slab - runs_.begin()) * kSlabBytes + (range.begin - slab_block(range));
}

std::optional<std::uint64_t> FileSlabs::offset_of(const AddressRange& range) {
  const auto known = find(range);
  if (known || leaves_block(range)) return known;
  const auto free = std::ranges::find(runs_, 0);
  if (free == runs_.end()) return std::nullopt;
  // A slab is never given back: its block of addresses keeps it for the arena's life.
  *free = slab_block(range) + 1;
  return find(range);
}

bool FileSlabs::is_in_place(const Mapping& view) const {
  base::require_lock(locks::kArena);
  return view.protection == (PROT_READ | PROT_WRITE) && find({view.begin, view.end}) == view.file_offset;
}

}  // namespace softdat::memory
