// SPDX-License-Identifier: BSD-2-Clause
// Which findings a person does not want to be told. A line of the file is a rule, or a rule and a pattern:
//   leak
//   overlap  *at server.c:*
// Both are shell patterns (fnmatch). The pattern of a place matches if one of the finding's places does. "#" begins a
// comment. Not for several threads.
#pragma once

#include <string>
#include <vector>

namespace softdat::sanitize {

class Suppressions {
 public:
  // Lines that say nothing are ignored. A rule that does not exist is logged with `file` and its line.
  Suppressions(const std::string& text, const std::string& file);
  // Reads the file of that name; one that cannot be read is logged, and suppresses nothing.
  static Suppressions read(const std::string& path);

  bool matches(const std::string& rule, const std::vector<std::string>& places) const;

 private:
  struct Line {
    std::string rule;
    std::string place;  // empty: any
  };
  std::vector<Line> lines_;
};

}  // namespace softdat::sanitize
