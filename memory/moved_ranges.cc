// SPDX-License-Identifier: BSD-2-Clause
#include "memory/moved_ranges.h"

#include <algorithm>
#include <iterator>

#include "base/assert.h"
#include "memory/lock_places.h"

namespace softdat::memory {

void MovedRanges::add(const FileRange& range) {
  base::require_lock(locks::kArena);
  // The entries never touch each other: unite with the one before and with all behind that the range reaches.
  auto at = ranges_.try_emplace(range.begin, range.end).first;
  at->second = std::max(at->second, range.end);
  if (at != ranges_.begin() && std::prev(at)->second >= at->first) {
    const auto before = std::prev(at);
    before->second = std::max(before->second, at->second);
    ranges_.erase(at);
    at = before;
  }
  for (auto next = std::next(at); next != ranges_.end() && next->first <= at->second; next = ranges_.erase(next)) {
    at->second = std::max(at->second, next->second);
  }
  SOFTDAT_DEBUG_CHECK(at->first <= range.begin && range.end <= at->second, "what has moved is in one entry", at->first,
                      at->second);
}

bool MovedRanges::may_contain(const FileRange& range) const {
  base::require_lock(locks::kArena);
  const auto behind = ranges_.upper_bound(range.begin);
  return behind != ranges_.begin() && std::prev(behind)->second >= range.end;
}

// Splits each entry into the parts that a view shows, which are kept, and the rest, which is returned to be freed. One
// pass over both sorted lists; views may overlap.
std::vector<FileRange> MovedRanges::keep_only(std::vector<FileRange> views) {
  base::require_lock(locks::kArena);
  moved_since_ = 0;
  std::ranges::sort(views, {}, &FileRange::begin);
  std::map<std::uint64_t, std::uint64_t> kept;
  std::vector<FileRange> forgotten;
  std::size_t first = 0;  // of those that do not end before
  for (const auto& [begin, end] : ranges_) {
    while (first < views.size() && views[first].end <= begin) ++first;
    std::uint64_t at = begin;
    for (std::size_t i = first; i < views.size() && views[i].begin < end; ++i) {
      const FileRange& view = views[i];
      if (view.end <= at) continue;
      if (view.begin > at) forgotten.push_back({at, view.begin});
      const std::uint64_t until = std::min(view.end, end);
      kept[std::max(at, view.begin)] = until;
      at = until;
    }
    if (at < end) forgotten.push_back({at, end});
  }
  ranges_.swap(kept);
  return forgotten;
}

}  // namespace softdat::memory
