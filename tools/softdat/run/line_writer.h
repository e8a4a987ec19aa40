// SPDX-License-Identifier: BSD-2-Clause
// The output of one copy, as whole lines behind the copy's name.
#pragma once

#include <string>
#include <string_view>

namespace softdat::tools::run {

class LineWriter {
 public:
  // Writes to `target`, which stays open. `color` is an SGR code ("36") for the name, empty for none.
  LineWriter(int target, const std::string& name, const std::string& color);

  // Writes the lines that are complete now. Throws Failure when the target takes no more.
  void add(std::string_view text);
  // Writes what is left, as a line.
  void finish();

 private:
  int target_;
  std::string prefix_;
  std::string pending_;
};

// Whether names on that descriptor are coloured: it is a terminal, NO_COLOR is unset or empty, and TERM is not "dumb".
bool is_colored(int descriptor);

}  // namespace softdat::tools::run
