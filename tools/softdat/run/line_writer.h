// SPDX-License-Identifier: BSD-2-Clause
// The output of one copy, as whole lines behind the copy's name.
#pragma once

#include <string>
#include <string_view>

namespace softdat::tools::run {

class LineWriter;

// Of writers whose lines must not mix: the one that has written a part of a line.
struct LineTurn {
  LineWriter* holder = nullptr;
};

class LineWriter {
 public:
  // Writes to `target`, which stays open. `color` is an SGR code ("36") for the name, empty for none. `turn` must live
  // as long.
  LineWriter(int target, LineTurn& turn, const std::string& name, const std::string& color);
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  int target() const { return target_; }
  // Writes the lines that are complete now, as far as the target takes them at once. Failure when it is broken.
  void add(std::string_view text);
  // Whether complete lines wait until the target takes more.
  bool is_waiting() const { return !lines_.empty(); }
  // Writes of them what it takes now; nothing while another writer is within a line.
  void flush();
  // Writes all, and what is left as a line. Waits for the target.
  void finish();

 private:
  void end_line();
  void finish_first_line();

  const int target_;
  LineTurn& turn_;
  const std::string prefix_;
  std::string pending_;  // a line without its end
  std::string lines_;    // complete ones, with prefixes
};

// Whether it takes PIPE_BUF bytes at once. Of one that is broken, write(2) tells why.
bool takes_more(int target);

// Whether names on that descriptor are coloured: it is a terminal, NO_COLOR is unset or empty, and TERM is not "dumb".
bool is_colored(int descriptor);

}  // namespace softdat::tools::run
