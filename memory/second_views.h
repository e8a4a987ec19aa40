// SPDX-License-Identifier: BSD-2-Clause
// SecondViews: mappings of the arena's file apart from the consumer's own, which it may unmap or protect. One for each
// slab, mapped when it is first needed.
//
// Owns the mappings while it lives; a child made by fork() does not get them.
//
// Threads: find() and contains() from any thread without a lock. map() REQUIRES the arena's lock, so that no walk over
// the address map meets a mapping that contains() does not know. Errors: the system refuses a mapping, or there is no
// memory.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "memory/file_range.h"
#include "memory/sparse_view.h"

namespace softdat::memory {

class SecondViews {
 public:
  // A use covers so many bytes at most. A view overlaps the next one by as much.
  static constexpr std::uint64_t kMostAtOnce = std::uint64_t{1} << 20;

  SecondViews() = default;
  ~SecondViews();
  SecondViews(const SecondViews&) = delete;
  SecondViews& operator=(const SecondViews&) = delete;

  // Returns the address of these bytes of the file, at most kMostAtOnce. Null if their slab is not mapped, or the
  // system refuses.
  std::byte* find(std::uint64_t offset, std::uint64_t length) {
    const std::size_t slab = offset / kSlabBytes;
    SOFTDAT_DEBUG_CHECK(slab < views_.size() && length <= kMostAtOnce, "a use lies within the arena's file", offset,
                        length);
    SparseView* const view = views_[slab].load(std::memory_order_acquire);
    const std::uint64_t place = offset % kSlabBytes;
    return view != nullptr && view->open(place, length) ? view->data() + place : nullptr;
  }
  // Maps the slab of that offset, unless it is mapped. False: no memory, or the system refuses.
  bool map(int file, std::uint64_t offset);
  // Whether the address lies in one of the views.
  bool contains(std::uint64_t address) const;

 private:
  // By slab; null: not mapped yet. Stored once each.
  std::array<std::atomic<SparseView*>, kSlabs> views_{};
};

}  // namespace softdat::memory
