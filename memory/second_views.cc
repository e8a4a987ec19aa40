// SPDX-License-Identifier: BSD-2-Clause
#include "memory/second_views.h"

#include <algorithm>
#include <memory>
#include <new>

#include "memory/lock_places.h"

namespace softdat::memory {

SecondViews::~SecondViews() {
  for (const auto& view : views_) delete view.load(std::memory_order_relaxed);
}

bool SecondViews::map(int file, std::uint64_t offset) try {
  base::require_lock(locks::kArena);
  const std::size_t slab = offset / kSlabBytes;
  if (views_[slab].load(std::memory_order_relaxed) != nullptr) return true;
  const std::uint64_t begin = slab * kSlabBytes;
  const std::uint64_t length = std::min(kSlabBytes + kMostAtOnce, kArenaBytes - begin);
  auto view = std::make_unique<SparseView>(file, begin, length, SparseView::Rights::kReadWrite);
  if (!*view) return false;
  // A child must not share stores with its parent (decision 7, "Fork").
  view->keep_from_children();
  // Pairs with the load in find(), which takes no lock. Each view reaches kMostAtOnce beyond its slab, so a range
  // that crosses the end of the slab needs one view only.
  views_[slab].store(view.release(), std::memory_order_release);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

bool SecondViews::contains(std::uint64_t address) const {
  return std::ranges::any_of(views_, [address](const std::atomic<SparseView*>& stored) {
    const SparseView* const view = stored.load(std::memory_order_relaxed);
    return view != nullptr && address - reinterpret_cast<std::uintptr_t>(view->data()) < view->length();
  });
}

}  // namespace softdat::memory
