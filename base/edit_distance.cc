// SPDX-License-Identifier: BSD-2-Clause
#include "base/edit_distance.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace softdat::base {
namespace {

// The distance, or any number from `limit` on if it is not below that. `row` has room for all letters of `b` and one
// more.
std::size_t distance_below(std::size_t limit, std::string_view a, std::string_view b, std::span<std::size_t> row) {
  // Each letter more or less is one step at least.
  const std::size_t apart = a.size() < b.size() ? b.size() - a.size() : a.size() - b.size();
  if (apart >= limit) return apart;
  // Levenshtein's distance with one row: row[j] is the distance between the first i letters of `a` and the first j of
  // `b`.
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    std::size_t least = row[0];
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min(std::min(row[j], row[j - 1]) + 1, replaced);
      least = std::min(least, row[j]);
    }
    // No row has less than the one before it.
    if (least >= limit) return least;
  }
  return row[b.size()];
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  return distance_below(std::numeric_limits<std::size_t>::max(), a, b, row);
}

std::string_view nearest_word(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view nearest;
  // Two letters that changed places are two replaced ones.
  constexpr std::size_t kShort = 4;
  std::size_t least = (word.size() < kShort ? 1 : 2) + 1;
  std::vector<std::size_t> row(word.size() + 1);
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = distance_below(least, candidate, word, row);
    if (distance >= least) continue;
    least = distance;
    nearest = candidate;
  }
  return nearest;
}

}  // namespace softdat::base
