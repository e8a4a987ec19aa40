// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <sstream>

#include "base/edit_distance.h"

namespace softdat::tools {
namespace {

// base::nearest_word takes an exchange for two replaced letters, which is too much for a short word.
bool have_exchanged_neighbours(std::string_view one, std::string_view other) {
  if (one.size() != other.size()) return false;
  const auto [in_one, in_other] = std::mismatch(one.begin(), one.end(), other.begin());
  if (one.end() - in_one < 2 || in_one[0] != in_other[1] || in_one[1] != in_other[0]) return false;
  return std::equal(in_one + 2, one.end(), in_other + 2);
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return lower;
}

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
  return words;
}

std::string join(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string did_you_mean(std::string_view word) {
  return word.empty() ? "" : fmt::format(", did you mean \"{}\"?", word);
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  // One letter is as near to any other.
  if (word.size() < 2) return "";
  const std::string wanted = lower_case(word);
  std::vector<std::string> lower;
  std::ranges::transform(candidates, std::back_inserter(lower), lower_case);
  const std::vector<std::string_view> views(lower.begin(), lower.end());
  auto found = std::ranges::find(views, base::nearest_word(wanted, views));
  if (found == views.end()) {
    found = std::ranges::find_if(views, [&](std::string_view view) { return have_exchanged_neighbours(wanted, view); });
  }
  return found == views.end() ? "" : did_you_mean(candidates[static_cast<std::size_t>(found - views.begin())]);
}

}  // namespace softdat::tools
