// SPDX-License-Identifier: BSD-2-Clause
#include "transport/direct/published_keys.h"

#include <algorithm>

namespace softdat::transport::direct {

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
bool PublishedKeys::retire(const FileRange& pages, const StandingPin& pin) {
  const std::lock_guard lock(mutex_);
  const auto is_same = [&](const Retired& known) {
    return known.pin == pin && known.pages.begin <= pages.begin && known.pages.end >= pages.end;
  };
  if (std::ranges::any_of(retired_, is_same)) return false;
  retired_.push_back({pages, pin});
  for (const auto& [name, range] : published_) {
    if (!overlap(range, pages)) continue;
    name.first->mark_cut(name.second);
    static_cast<void>(name.first->withdraw(name.second));
  }
  return true;
}

void PublishedKeys::release() {
  const std::lock_guard lock(mutex_);
  release_locked();
}

void PublishedKeys::release_locked() {
  std::erase_if(retired_, [](const Retired& retired) { return retired.pin.is_over(); });
}

bool PublishedKeys::is_retired(const FileRange& pages) {
  const std::lock_guard lock(mutex_);
  return is_retired_locked(pages);
}

bool PublishedKeys::is_retired_locked(const FileRange& pages) {
  release_locked();
  return std::ranges::any_of(retired_, [&](const Retired& retired) { return overlap(retired.pages, pages); });
}

void PublishedKeys::forget(Board& board) {
  const std::lock_guard lock(mutex_);
  std::erase_if(published_, [&board](const auto& entry) { return entry.first.first == &board; });
}

}  // namespace softdat::transport::direct
