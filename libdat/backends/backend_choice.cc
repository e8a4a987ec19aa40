// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/backends/backend_choice.h"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "base/log.h"

namespace softdat::backends {
namespace {

constexpr std::string_view kVerbsPrefix = "verbs:";

// "sim", "verbs", "verbs:TARGET".
std::optional<BackendChoice> read_word(std::string_view word) {
  if (word == "sim") return BackendChoice{};
  if (word == "verbs") return BackendChoice{Backend::kVerbs};
  if (!word.starts_with(kVerbsPrefix) || word.size() == kVerbsPrefix.size()) return std::nullopt;
  return BackendChoice{Backend::kVerbs, std::string(word.substr(kVerbsPrefix.size()))};
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

bool is_number(const std::string& word) {
  return std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// A device, an interface or an address, and a port.
std::optional<BackendChoice> read_ofed_line(const std::vector<std::string>& words) {
  if (words.size() != 2 || words[0].find('=') != std::string::npos || !is_number(words[1])) return std::nullopt;
  return BackendChoice{Backend::kVerbsOrSim, words[0]};
}

std::optional<BackendChoice> read_instance(const std::string& instance) {
  // A word of ours wins over OFED's form, wherever it stands in the line.
  const std::vector<std::string> words = words_of(instance);
  for (const std::string& word : words) {
    if (auto choice = read_word(word)) return choice;
  }
  return read_ofed_line(words);
}

// What is asked for without the environment's help.
BackendChoice choose_unforced(const DeviceChoice& choice) {
  if (choice.name.starts_with(kVerbsPrefix)) {
    if (auto named = read_word(choice.name)) return *named;
  }
  return read_instance(choice.instance).value_or(BackendChoice{});
}

}  // namespace

std::optional<BackendChoice> choose_backend(const DeviceChoice& choice) {
  const BackendChoice unforced = choose_unforced(choice);
  const std::string_view forced = base::environment(base::Variable::kBackend);
  if (forced.empty()) return unforced;
  const auto read = read_word(forced);
  if (!read) {
    base::log(base::LogLevel::kError, "SOFTDAT_BACKEND=%s is not understood; it takes sim, verbs or verbs:DEVICE",
              std::string(forced).c_str());
    return std::nullopt;
  }
  // Plain "verbs" takes the device from the name or the instance data (docs/BACKENDS.md, what selects the backend).
  if (read->backend == Backend::kVerbs && read->target.empty()) return BackendChoice{Backend::kVerbs, unforced.target};
  return read;
}

}  // namespace softdat::backends
