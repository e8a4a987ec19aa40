// SPDX-License-Identifier: BSD-2-Clause
#include "transport/direct/published_keys.h"

#include <algorithm>

namespace softdat::transport::direct {
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

bool PublishedKeys::add(Board& board, std::uint32_t key, const Grant& grant, std::uint64_t offset) {
  const FileRange pages = whole_pages(offset, grant.length);
  const std::lock_guard lock(mutex_);
  if (is_retired_locked(pages)) return false;
  published_.insert_or_assign({&board, key}, pages);
  board.publish(key, grant, offset);
  return true;
}

std::optional<FileRange> PublishedKeys::remove(Board& board, std::uint32_t key) {
  const std::lock_guard lock(mutex_);
  const auto found = published_.find({&board, key});
  if (found == published_.end()) return std::nullopt;
  const FileRange pages = found->second;
  published_.erase(found);
  static_cast<void>(board.withdraw(key));
  return pages;
}

// A key that has lost pages stays in the list: peers may have pinned others of its pages.
std::vector<FileRange> PublishedKeys::retire(std::span<const Retirement> retirements) {
  std::vector<FileRange> pages;
  pages.reserve(retirements.size());
  const std::lock_guard lock(mutex_);
  retired_.reserve(retired_.size() + retirements.size());
  for (const Retirement& retirement : retirements) {
    if (is_done_locked(retirement)) continue;
    retired_.push_back(retirement);
    pages.push_back(retirement.pages);
  }
  unite(pages);
  for (const auto& [name, range] : published_) {
    if (std::ranges::none_of(pages, [&](const FileRange& taken) { return overlap(range, taken); })) continue;
    name.first->mark_cut(name.second);
    static_cast<void>(name.first->withdraw(name.second));
  }
  return pages;
}

bool PublishedKeys::is_done_locked(const Retirement& retirement) const {
  return std::ranges::any_of(retired_, [&](const Retirement& known) {
    return known.pin == retirement.pin && known.pages.begin <= retirement.pages.begin &&
           known.pages.end >= retirement.pages.end;
  });
}

bool PublishedKeys::is_known(const StandingPin& pin) {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(retired_, [&](const Retirement& known) { return known.pin == pin; });
}

void PublishedKeys::release() {
  const std::lock_guard lock(mutex_);
  release_locked();
}

void PublishedKeys::release_locked() {
  std::erase_if(retired_, [](const Retirement& retired) { return retired.pin.is_over(); });
}

bool PublishedKeys::is_retired(const FileRange& pages) {
  const std::lock_guard lock(mutex_);
  return is_retired_locked(pages);
}

bool PublishedKeys::is_retired_locked(const FileRange& pages) {
  release_locked();
  return std::ranges::any_of(retired_, [&](const Retirement& retired) { return overlap(retired.pages, pages); });
}

void PublishedKeys::forget(Board& board) {
  const std::lock_guard lock(mutex_);
  std::erase_if(published_, [&board](const auto& entry) { return entry.first.first == &board; });
}

}  // namespace softdat::transport::direct
