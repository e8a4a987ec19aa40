// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/sanitize/suppressions.h"

#include <fnmatch.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/log.h"

namespace softdat::sanitize {
namespace {

bool fits(const std::string& pattern, const std::string& text) {
  return ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

}  // namespace

Suppressions::Suppressions(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line.resize(std::min(line.find('#'), line.size()));
    std::istringstream words(line);
    Line made;
    if (!(words >> made.rule)) continue;
    std::getline(words >> std::ws, made.place);
    made.place.resize(made.place.find_last_not_of(" \t\r") + 1);
    lines_.push_back(made);
  }
}

Suppressions Suppressions::read(const std::string& path) {
  if (path.empty()) return Suppressions("");
  std::ifstream file(path);
  if (!file) {
    base::log(base::LogLevel::kWarning, "SOFTDAT_SANITIZE_SUPPRESSIONS: cannot read \"%s\": %s", path.c_str(),
              std::strerror(errno));
  }
  return Suppressions({std::istreambuf_iterator<char>(file), {}});
}

bool Suppressions::matches(const std::string& rule, const std::vector<std::string>& places) const {
  return std::any_of(lines_.begin(), lines_.end(), [&](const Line& line) {
    const auto is_there = [&](const std::string& place) { return fits(line.place, place); };
    return fits(line.rule, rule) && (line.place.empty() || std::any_of(places.begin(), places.end(), is_there));
  });
}

}  // namespace softdat::sanitize
