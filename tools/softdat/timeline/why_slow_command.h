// SPDX-License-Identifier: BSD-2-Clause
// `softdat why-slow`: runs a program with a timeline, or reads one, and says in words where time is lost.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/softdat/command_line.h"

namespace softdat::tools::timeline {

class WhySlowCommand {
 public:
  explicit WhySlowCommand(CommandLine& line);
  bool is_chosen() const { return options_.is_chosen(); }
  // Returns the exit status: the program's, if there is one. UsageError, Failure.
  int run() const;

 private:
  void check() const;
  int run_program() const;
  std::vector<std::string> run_words(const std::string& file) const;
  void explain(const std::string& file) const;
  std::string explanation(const std::string& file) const;

  Subcommand options_;
  std::vector<std::string> words_;
  std::uint32_t copies_ = 1;
  std::string server_;
  std::string transport_ = "auto";
  double timeout_s_ = 0;
  std::string keep_;
  std::string read_;
};

}  // namespace softdat::tools::timeline
