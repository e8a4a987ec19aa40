// SPDX-License-Identifier: BSD-2-Clause
#include "memory/lent_pages.h"

#include <algorithm>
#include <iterator>

#include "base/assert.h"

namespace softdat::memory {
namespace {

// Ascending, and apart from each other.
void unite(std::vector<FileRange>& ranges) {
  std::ranges::sort(ranges, {}, &FileRange::begin);
  std::size_t last = 0;
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].begin <= ranges[last].end) {
      ranges[last].end = std::max(ranges[last].end, ranges[i].end);
    } else {
      ranges[++last] = ranges[i];
    }
  }
  if (!ranges.empty()) ranges.resize(last + 1);
}

}  // namespace

void LentPages::remove_all(Lender& lender) {
  const std::lock_guard lock(mutex_);
  std::erase_if(lent_, [&lender](const auto& entry) { return entry.first.first == &lender; });
}

// A range that was taken back stays in the list: peers may hold others of its pages.
std::vector<FileRange> LentPages::retire(std::span<const Retirement> retirements) {
  const std::lock_guard lock(mutex_);
  std::vector<Retired> fresh;
  for (const Retirement& each : retirements)
    if (!is_done_locked(each)) fresh.push_back({each});
  std::vector<FileRange> pages;
  std::ranges::transform(fresh, std::back_inserter(pages), &Retired::pages);
  unite(pages);
  const auto do_touch = [](const FileRange& a, const FileRange& b) { return a.end >= b.begin; };
  base::check(std::ranges::adjacent_find(pages, do_touch) == pages.end(), "taken pages are apart from each other");
  retired_.reserve(retired_.size() + fresh.size());
  std::ranges::move(fresh, std::back_inserter(retired_));  // from here on nothing throws
  for (const auto& [name, range] : lent_) {
    const auto is_taken = [&range = range](const FileRange& taken) { return overlap(range, taken); };
    if (std::ranges::any_of(pages, is_taken)) name.first->take_back(name.second);
  }
  return pages;
}

void LentPages::keep_retired() {
  const std::lock_guard lock(mutex_);
  for (Retired& retired : retired_) retired.is_kept = true;
}

void LentPages::undo_retire() {
  const std::lock_guard lock(mutex_);
  std::erase_if(retired_, [](const Retired& retired) { return !retired.is_kept; });
}

// A hold that several revocations find is retired once for the same pages.
bool LentPages::is_done_locked(const Retirement& retirement) const {
  base::require_lock(locks::kLentPages);
  return std::ranges::any_of(retired_, [&](const Retired& known) {
    return known.hold.is_same(retirement.hold) && known.pages.begin <= retirement.pages.begin &&
           known.pages.end >= retirement.pages.end;
  });
}

bool LentPages::is_known(const Hold& hold) {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(retired_, [&](const Retired& known) { return known.hold.is_same(hold); });
}

void LentPages::release() {
  const std::lock_guard lock(mutex_);
  release_locked();
}

void LentPages::release_locked() {
  base::require_lock(locks::kLentPages);
  // A hold is over when the peer has let go or died. Only then may its pages be lent again.
  std::erase_if(retired_, [](const Retired& retired) { return retired.hold.is_over(); });
}

bool LentPages::is_retired(const FileRange& pages) {
  const std::lock_guard lock(mutex_);
  return is_retired_locked(pages);
}

bool LentPages::is_retired_locked(const FileRange& pages) {
  base::require_lock(locks::kLentPages);
  release_locked();
  return std::ranges::any_of(retired_, [&](const Retired& retired) { return overlap(retired.pages, pages); });
}

}  // namespace softdat::memory
