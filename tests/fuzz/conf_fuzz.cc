// SPDX-License-Identifier: BSD-2-Clause
// dat.conf: any text gives entries and complaints, and every complaint names the file and a place in it.
#include <string>

#include "libdat/registry/conf_file.h"
#include "tests/fuzz/fuzz.h"

namespace softdat::fuzz {

void run_input(Input bytes) {
  using namespace softdat::registry;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::size_t complaints = 0;
  const auto complain = [&](const std::string& message) {
    ++complaints;
    expect(message.starts_with("f:"), "a complaint names the file");
    expect(message.find('\n') == std::string::npos, "a complaint is one line");
  };
  const ConfFile file = parse_conf_text(text, "f", complain);
  const auto lines = static_cast<std::size_t>(1 + std::count(text.begin(), text.end(), '\n'));
  expect(file.entries.size() + complaints <= lines, "a line is an entry, or one mistake, or nothing");
  for (const ConfEntry& entry : file.entries) {
    expect(!entry.ia_name.empty() && entry.ia_name.size() <= kLongestIaName, "an entry has a name that fits");
  }
  const ConfLine line = parse_conf_line(text.substr(0, text.find('\n')));
  if (const auto* mistake = std::get_if<ConfMistake>(&line)) {
    expect(mistake->column >= 1 && mistake->column <= text.size() + 1, "a mistake is on its line");
  }
}

}  // namespace softdat::fuzz
