// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/sanitize/suppressions.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

#include "base/edit_distance.h"
#include "base/log.h"
#include "libdat/sanitize/rules.h"

namespace softdat::sanitize {
namespace {

bool fits(const std::string& pattern, const std::string& text) {
  return ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

// A rule that is written wrongly would suppress nothing.
void check_rule(const std::string& rule, const std::string& file, std::size_t number) {
  std::array<std::string_view, kRuleCount> names;
  for (std::size_t i = 0; i < kRuleCount; ++i) names[i] = text_of(static_cast<Rule>(i)).name;
  if (std::any_of(names.begin(), names.end(), [&](std::string_view name) { return fits(rule, std::string(name)); }))
    return;
  std::string meant(base::nearest_word(rule, names));
  if (!meant.empty()) meant = "; did you mean \"" + meant + "\"?";
  base::log(base::LogLevel::kWarning,
            "SOFTDAT_SANITIZE_SUPPRESSIONS: %s:%zu: no rule fits \"%s\"%s The first word of a line is a rule, as "
            "findings name it.",
            file.c_str(), number, rule.c_str(), meant.empty() ? "." : meant.c_str());
}

}  // namespace

// A line has a rule and, if it likes, a place, both with the wildcards of fnmatch(3). "#" begins a comment.
Suppressions::Suppressions(const std::string& text, const std::string& file) {
  std::istringstream lines(text);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    line.resize(std::min(line.find('#'), line.size()));
    std::istringstream words(line);
    Line made;
    if (!(words >> made.rule)) continue;
    check_rule(made.rule, file, number);
    std::getline(words >> std::ws, made.place);
    made.place.resize(made.place.find_last_not_of(" \t\r") + 1);
    lines_.push_back(made);
  }
}

Suppressions Suppressions::read(const std::string& path) {
  if (path.empty()) return Suppressions("", "");
  std::ifstream file(path);
  if (!file) {
    base::log(base::LogLevel::kWarning, "SOFTDAT_SANITIZE_SUPPRESSIONS: cannot read \"%s\": %s", path.c_str(),
              std::strerror(errno));
  }
  return Suppressions({std::istreambuf_iterator<char>(file), {}}, path);
}

bool Suppressions::matches(const std::string& rule, const std::vector<std::string>& places) const {
  return std::any_of(lines_.begin(), lines_.end(), [&](const Line& line) {
    const auto is_there = [&](const std::string& place) { return fits(line.place, place); };
    return fits(line.rule, rule) && (line.place.empty() || std::any_of(places.begin(), places.end(), is_there));
  });
}

}  // namespace softdat::sanitize
