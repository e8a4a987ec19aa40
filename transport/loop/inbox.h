// SPDX-License-Identifier: BSD-2-Clause
// Inbox: the items on their way to one end of a loop connection, oldest first; or, instead of them, the reason for
// which the connection ends. Internal to transport/loop.
//
// A member of its End. Guarded by the network's lock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "transport/channel.h"
#include "transport/loop/item.h"

namespace softdat::transport::loop {

class Inbox {
 public:
  // How many items wait, due or not; the reason counts as one.
  std::size_t waiting() const { return items_.size() + (reason_ ? 1 : 0); }
  // Returns the sum of the costs of all items.
  std::size_t cost() const { return cost_; }

  // Adds an item, which is due at that time, but not before those ahead of it. Throws std::bad_alloc without any
  // effect.
  void put(Item item, base::Time due) {
    item.due = items_.empty() ? due : std::max(due, items_.back().due);
    const std::size_t cost = item.cost();
    items_.push_back(std::move(item));
    cost_ += cost;
  }
  // When the oldest item is due; empty: there is none.
  std::optional<base::Time> next_due() const {
    return items_.empty() ? std::nullopt : std::optional(items_.front().due);
  }
  // REQUIRES: an item.
  Item take_oldest() {
    Item item = std::move(items_.front());
    items_.pop_front();
    SOFTDAT_DEBUG_CHECK(item.cost() <= cost_, "the inbox costs what its items cost", item.cost(), cost_);
    cost_ -= item.cost();
    return item;
  }
  void drop_chunks() {
    std::erase_if(items_, [](const Item& item) { return item.kind == ItemKind::kChunk; });
    cost_ = 0;
    for (const Item& item : items_) cost_ += item.cost();
  }

  // Drops the items. The connection ends for that reason. Allocates nothing.
  void end_with(CloseReason reason) {
    clear();
    reason_ = reason;
  }
  const std::optional<CloseReason>& reason() const { return reason_; }
  // Drops everything.
  void clear() {
    items_.clear();
    cost_ = 0;
    reason_.reset();
  }

 private:
  std::deque<Item> items_;
  std::size_t cost_ = 0;
  std::optional<CloseReason> reason_;
};

}  // namespace softdat::transport::loop
