// SPDX-License-Identifier: BSD-2-Clause
// `softdat sweep`: lets a program fail at every point at which it can, one run for each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/softdat/command_line.h"
#include "tools/softdat/sweep/trial.h"

namespace softdat::tools::sweep {

class Command {
 public:
  // Adds the command to `line`, which must live as long.
  explicit Command(CommandLine& line);

  bool is_chosen() const { return options_.is_chosen(); }
  // Returns the exit status: 0 when nothing bad was found, else kExitFailure, or that of a signal. UsageError, Failure.
  int run() const;

 private:
  TrialPlan plan() const;
  std::vector<std::string> find_faults(TrialPlan& plan, const std::string& directory) const;
  std::vector<std::string> nasty_faults(const TrialPlan& plan) const;
  std::string swept(const TrialPlan& plan) const;
  std::vector<Trial> try_all(const TrialPlan& plan, const std::vector<std::string>& faults,
                             const std::string& directory) const;
  std::size_t jobs() const;
  void check_outputs() const;
  void write_reports(const TrialPlan& plan, const std::vector<Trial>& trials) const;

  Subcommand options_;
  std::vector<std::string> words_;
  std::string server_;
  std::string transport_;
  std::vector<std::string> assignments_;
  std::uint32_t jobs_ = 0;
  std::uint32_t sample_ = 0;
  std::uint64_t seed_ = 1;
  std::string faults_;       // a plan, instead of each failure
  std::uint32_t nasty_ = 0;  // runs in nasty mode, instead of failures
  double timeout_s_ = 0;
  std::uint32_t wrong_data_ = 0;
  std::string results_ = "softdat-sweep.jsonl";
  bool resumes_ = false;
  std::uint32_t shrunk_ = 3;
  std::string json_;
  std::string html_;
};

}  // namespace softdat::tools::sweep
