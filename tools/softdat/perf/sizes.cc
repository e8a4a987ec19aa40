// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/perf/sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "tools/softdat/command_line.h"
#include "tools/softdat/perf/machine.h"
#include "tools/softdat/perf/plan.h"
#include "tools/softdat/words.h"

namespace softdat::tools::perf {
namespace {

std::optional<std::uint64_t> number_of(const std::string& text, std::string& rest) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  rest.assign(end, text.data() + text.size());
  return number;
}

std::uint64_t parse_size(const std::string& word) {
  std::string unit;
  const auto number = number_of(word, unit);
  const int shift = unit.empty() || unit == "B" || unit == "b" ? 0
                    : unit == "K" || unit == "k"               ? 10
                    : unit == "M" || unit == "m"               ? 20
                    : unit == "G" || unit == "g"               ? 30
                                                               : -1;
  if (!number || shift < 0) throw UsageError(fmt::format("--size \"{}\" is not a size; write 8, 4K, 1M or 1-8M", word));
  if (*number == 0 || *number > kLargestMessage >> shift) {
    throw UsageError(fmt::format("--size \"{}\" is out of range; allowed: 1 to 1G", word));
  }
  return *number << shift;
}

// The two ends of "A-B", or twice the same.
std::pair<std::string, std::string> ends_of(const std::string& word) {
  const std::size_t dash = word.find('-', 1);
  return dash == std::string::npos ? std::pair(word, word) : std::pair(word.substr(0, dash), word.substr(dash + 1));
}

int parse_processor(const std::string& word, const std::vector<int>& allowed) {
  std::string rest;
  const auto number = number_of(word, rest);
  if (!number || !rest.empty())
    throw UsageError(fmt::format("--cpu \"{}\" is not a processor; write auto, none, 0,1 or 0-3", word));
  const auto found = std::find(allowed.begin(), allowed.end(), static_cast<int>(*number));
  if (found == allowed.end())
    throw UsageError(fmt::format("--cpu \"{}\" is not a processor of this process; allowed: {}", word,
                                 fmt::format("{}", fmt::join(allowed, ","))));
  return *found;
}

}  // namespace

std::vector<std::uint64_t> parse_sizes(const std::string& text) {
  std::vector<std::uint64_t> sizes;
  for (const std::string& word : split_list(text)) {
    const auto [first, last] = ends_of(word);
    if (last.empty() && !first.empty()) {
      throw UsageError(fmt::format("--size \"{}\" has no end; write 8, 4K, 1M or 1-8M", word));
    }
    const std::uint64_t from = parse_size(first);
    const std::uint64_t to = parse_size(last);
    if (from > to) throw UsageError(fmt::format("--size \"{}\" goes downward; write the smaller size first", word));
    for (std::uint64_t size = from; size <= to; size *= 2) sizes.push_back(size);
  }
  if (sizes.empty()) throw UsageError(fmt::format("--size \"{}\" names no size; write 8, 4K, 1M or 1-8M", text));
  return sizes;
}

std::vector<int> parse_processors(const std::string& text) {
  const std::vector<int> allowed = allowed_processors();
  std::vector<int> processors;
  for (const std::string& word : split_list(text)) {
    const auto [first, last] = ends_of(word);
    if (last.empty()) throw UsageError(fmt::format("--cpu \"{}\" has no end; write auto, none, 0,1 or 0-3", word));
    const int from = parse_processor(first, allowed);
    const int to = parse_processor(last, allowed);
    for (int processor = from; processor <= to; ++processor) {
      processors.push_back(parse_processor(std::to_string(processor), allowed));
    }
  }
  if (processors.empty())
    throw UsageError(fmt::format("--cpu \"{}\" names no processor; write auto, none, 0,1 or 0-3", text));
  return processors;
}

}  // namespace softdat::tools::perf
