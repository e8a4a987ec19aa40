// SPDX-License-Identifier: BSD-2-Clause
#include "base/environment.h"

#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include "base/edit_distance.h"
#include "base/log.h"
#include "base/runner.h"

namespace softdat::base {
namespace {

struct Row {
  const char* name;
  std::string_view choices;  // blank separated; empty: free text, or a number
  Limits limits{};           // of a number; most 0: no number
  bool names_file = false;
};

// In the order of enum Variable.
constexpr std::array<Row, 24> kRows{{
    {"SOFTDAT_BACKEND", ""},
    {"SOFTDAT_TRANSPORT", "auto shm tcp loop"},
    {"SOFTDAT_ADDRESS", ""},
    {"SOFTDAT_CRC", "on off"},
    {"SOFTDAT_MPA", "p2p 2 1"},
    {"SOFTDAT_RNR", "wait terminate"},
    {"SOFTDAT_DIRECT", "auto on off 1 0"},
    {"SOFTDAT_CONNECT_GRACE", "", {0, 60000}},
    {"SOFTDAT_LOG", "error warning notice trace"},
    {"SOFTDAT_ANY_IA", "1 0"},
    {"SOFTDAT_TCP_TIMEOUT", "", {2, 600}},
    {"SOFTDAT_COUNTERS", "on off"},
    {"SOFTDAT_SANITIZE", "off on full completions"},
    {"SOFTDAT_SANITIZE_SUPPRESSIONS", "", {}, true},
    {"SOFTDAT_FAULTS", "", {}, true},
    {"SOFTDAT_FAULTS_LOG", "", {}, true},
    {"SOFTDAT_NASTY", "", {0, 4294967295}},
    {"SOFTDAT_CAPTURE", "", {}, true},
    {"SOFTDAT_CAPTURE_SNAP", "", {0, 65535}},
    {"SOFTDAT_CAPTURE_BUFFER", "", {128, 1048576}},
    {"SOFTDAT_PROFILE", "", {}, true},
    {"SOFTDAT_TIMELINE", "", {}, true},
    {"SOFTDAT_TIMELINE_BUFFER", "", {128, 1048576}},
    {"SOFTDAT_TIMELINE_CPU", "on off"},
}};

const Row& row_of(Variable variable) {
  return kRows[static_cast<std::size_t>(variable)];
}

bool is_same_word(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

// The word of `words` that is meant, in whatever letter case it is written; empty if there is none.
std::string_view find_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (is_same_word(words.substr(0, end), word)) return words.substr(0, end);
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return {};
}

struct Position {
  std::string_view word;
  std::string_view digit;
  std::string_view synonyms;
};
constexpr std::array<Position, 2> kSwitch{{{"on", "1", "on 1 yes true"}, {"off", "0", "off 0 no false"}}};

// Like find_word(). A variable that takes off or 0 is a switch, and takes all synonyms of on and off.
std::string_view find_choice(const Row& row, std::string_view value) {
  if (const std::string_view word = find_word(row.choices, value); !word.empty()) return word;
  if (find_word(row.choices, "off").empty() && find_word(row.choices, "0").empty()) return {};
  for (const Position& position : kSwitch) {
    if (find_word(position.synonyms, value).empty()) continue;
    const std::string_view word = find_word(row.choices, position.word);
    return word.empty() ? find_word(row.choices, position.digit) : word;
  }
  return {};
}

std::optional<unsigned> read_within(const Limits& limits, std::string_view text) {
  unsigned number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < limits.least || number > limits.most) return std::nullopt;
  return number;
}

// The value as it is written in the table, or empty if it is not understood.
std::string_view understood(const Row& row, std::string_view value) {
  if (row.limits.most != 0) return read_within(row.limits, value) ? value : std::string_view{};
  return row.choices.empty() ? value : find_choice(row, value);
}

std::string allowed_by(const Row& row) {
  if (row.limits.most == 0) return "one of: " + std::string(row.choices);
  return "a whole number from " + std::to_string(row.limits.least) + " to " + std::to_string(row.limits.most);
}

// A long value or name is cut, so that the advice behind it is seen.
constexpr std::size_t kMostShown = 80;

// In quotes, so that blanks are seen.
std::string quoted(std::string_view value) {
  return '"' + std::string(value.substr(0, kMostShown)) + (value.size() > kMostShown ? "..." : "") + '"';
}

std::string upper_case(std::string_view text) {
  std::string upper(text);
  for (char& letter : upper) {
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  }
  return upper;
}

void check_value(const Row& row) {
  const char* value = std::getenv(row.name);
  if (value == nullptr || *value == '\0' || !understood(row, value).empty()) return;
  log(LogLevel::kWarning, "%s=%s is not understood and ignored; it takes %s", row.name, quoted(value).c_str(),
      allowed_by(row).c_str());
}

// Begins the name of every variable that is ours.
constexpr std::string_view kPrefix = "SOFTDAT_";

void check_name(std::string_view name) {
  const std::string_view rest = name.substr(kPrefix.size());
  if (rest.starts_with("TEST_")) return;  // said to our tests
  if (rest.starts_with("RUN_")) return;   // set by `softdat run`, base/runner.h
  const auto same = [&](const Row& row) { return name == row.name; };
  if (std::any_of(kRows.begin(), kRows.end(), same)) return;
  const std::string shown(name.substr(0, kMostShown));
  std::array<std::string_view, kRows.size()> known;
  std::transform(kRows.begin(), kRows.end(), known.begin(),
                 [](const Row& row) { return std::string_view(row.name).substr(kPrefix.size()); });
  if (const std::string_view nearest = nearest_word(upper_case(rest.substr(0, kMostShown)), known); !nearest.empty()) {
    log(LogLevel::kWarning, "environment variable %s is unknown; did you mean SOFTDAT_%s?", shown.c_str(),
        std::string(nearest).c_str());
  } else {
    log(LogLevel::kWarning, "environment variable %s is unknown; softdat(7) lists all", shown.c_str());
  }
}

void report_all() {
  for (const Row& row : kRows) check_value(row);
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (text.starts_with(kPrefix)) check_name(text.substr(0, text.find('=')));
  }
}

}  // namespace

Limits limits_of(Variable variable) {
  return row_of(variable).limits;
}

std::optional<unsigned> read_number(Variable variable, std::string_view text) {
  return read_within(limits_of(variable), text);
}

std::string_view environment(Variable variable) {
  const Row& row = row_of(variable);
  // A set-user-ID program must not open or create files that its caller names.
  const char* value = row.names_file ? ::secure_getenv(row.name) : std::getenv(row.name);
  if (value == nullptr) return {};
  return understood(row, value);
}

void report_environment_mistakes() {
  // `softdat run` has checked the environment for all programs that it starts.
  if (are_mistakes_told()) return;
  static std::once_flag once;
  std::call_once(once, report_all);
}

}  // namespace softdat::base
