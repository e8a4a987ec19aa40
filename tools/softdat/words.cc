// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace softdat::tools {
namespace {

// Longer words are not compared: they are no typing mistakes.
constexpr std::size_t kLongestWord = 100;

// Letters that are inserted, dropped, replaced, or exchanged with their neighbour (Damerau and Levenshtein, optimal
// string alignment).
std::size_t typing_mistakes(std::string_view one, std::string_view other) {
  const std::size_t width = other.size() + 1;
  std::vector<std::size_t> table((one.size() + 1) * width);
  const auto at = [&](std::size_t i, std::size_t k) -> std::size_t& { return table[i * width + k]; };
  for (std::size_t i = 0; i <= one.size(); ++i) at(i, 0) = i;
  for (std::size_t k = 0; k <= other.size(); ++k) at(0, k) = k;
  for (std::size_t i = 1; i <= one.size(); ++i) {
    for (std::size_t k = 1; k <= other.size(); ++k) {
      const std::size_t replaced = at(i - 1, k - 1) + (one[i - 1] == other[k - 1] ? 0 : 1);
      at(i, k) = std::min({at(i - 1, k) + 1, at(i, k - 1) + 1, replaced});
      const bool is_exchanged = i > 1 && k > 1 && one[i - 1] == other[k - 2] && one[i - 2] == other[k - 1];
      if (is_exchanged) at(i, k) = std::min(at(i, k), at(i - 2, k - 2) + 1);
    }
  }
  return table.back();
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

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string wanted = lower_case(word);
  std::string nearest;
  // More mistakes than a third of the word is another word.
  std::size_t fewest = wanted.size() / 3 + 1;
  for (const std::string& candidate : candidates) {
    // Each letter more or less is a mistake at least; a word of any length is compared with short ones alone.
    const std::size_t apart = std::max(wanted.size(), candidate.size()) - std::min(wanted.size(), candidate.size());
    if (apart >= fewest || wanted.size() > kLongestWord) continue;
    const std::size_t mistakes = typing_mistakes(wanted, lower_case(candidate));
    if (mistakes >= fewest) continue;
    fewest = mistakes;
    nearest = candidate;
  }
  return nearest.empty() ? "" : fmt::format(", did you mean \"{}\"?", nearest);
}

}  // namespace softdat::tools
