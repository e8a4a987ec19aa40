// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/sanitize/range_index.h"

#include <algorithm>

#include "base/assert.h"

namespace softdat::sanitize {
namespace {

// Many operations that read the same large buffer must not make each post slow: then some clashes are missed.
constexpr int kMostLooks = 64;

}  // namespace

RangeIndex::RangeIndex() {
  spares_.reserve(kSpares);
}

void RangeIndex::add(Operation& operation) {
  SOFTDAT_DEBUG_CHECK(!operation.is_indexed, "an operation is added once");
  Uses& uses = stores(operation.kind) ? stores_ : loads_;
  operation.is_indexed = true;  // first: remove() must find what was added before memory ran out
  for (const Range& range : operation.ranges) {
    if (range.length == 0) continue;
    const Use use{range.address + range.length, &operation};
    // Nodes of the map are used again, so that a post seldom takes memory.
    if (spares_.empty()) {
      uses.by_begin.emplace(range.address, use);
    } else {
      spares_.back().key() = range.address;
      spares_.back().mapped() = use;
      uses.by_begin.insert(std::move(spares_.back()));
      spares_.pop_back();
    }
    uses.longest = std::max(uses.longest, range.length);
  }
}

void RangeIndex::remove(Operation& operation) {
  if (!operation.is_indexed) return;
  auto& by_begin = (stores(operation.kind) ? stores_ : loads_).by_begin;
  for (const Range& range : operation.ranges) {
    if (range.length == 0) continue;
    auto use = by_begin.lower_bound(range.address);
    while (use != by_begin.end() && use->first == range.address && use->second.operation != &operation) ++use;
    if (use == by_begin.end() || use->first != range.address) continue;
    auto node = by_begin.extract(use);
    if (spares_.size() < spares_.capacity()) spares_.push_back(std::move(node));
  }
  operation.is_indexed = false;
}

void RangeIndex::clear() {
  loads_ = {};
  stores_ = {};
}

RangeIndex::Clash RangeIndex::find(const Uses& uses, const Range& range) {
  if (uses.by_begin.empty()) return {};
  const std::uint64_t end = range.address + range.length;
  // A use that begins before the range may reach into it, if it is as long as the longest.
  auto use = uses.by_begin.lower_bound(range.address - std::min(range.address, uses.longest));
  for (int looks = 0; use != uses.by_begin.end() && use->first < end && looks < kMostLooks; ++use, ++looks) {
    const std::uint64_t from = std::max(use->first, range.address);
    const std::uint64_t to = std::min(use->second.end, end);
    if (from < to) return {use->second.operation, from, to - from};
  }
  return {};
}

RangeIndex::Clash RangeIndex::find_clash(const Operation& operation) const {
  for (const Range& range : operation.ranges) {
    if (range.length == 0) continue;
    if (const Clash clash = find(stores_, range); clash.operation != nullptr) return clash;
    if (!stores(operation.kind)) continue;
    if (const Clash clash = find(loads_, range); clash.operation != nullptr) return clash;
  }
  return {};
}

}  // namespace softdat::sanitize
