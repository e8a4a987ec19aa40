// SPDX-License-Identifier: BSD-2-Clause
// The faults that `softdat run` makes: reads plans, hands them to the programs, and says what fired.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/fault_plan.h"
#include "tools/softdat/command_line.h"
#include "tools/softdat/run/environment.h"
#include "tools/softdat/scratch_directory.h"

namespace softdat::tools::run {

class FaultOptions {
 public:
  // Adds --faults, --fault and --faults-log.
  void add_to(Subcommand& options);

  std::string file;
  std::vector<std::string> statements;
  std::string log;
};

class Faults {
 public:
  // Reads the plan. A log without a plan goes with the nasty mode. `environment` is that of the programs, as far as it
  // is known. UsageError when the plan makes no sense, or asks for what the transport cannot do.
  Faults(const FaultOptions& options, const Environment& environment);
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;

  // No plan, and no log of what the nasty mode does.
  bool is_empty() const { return has_no_plan() && log_.empty(); }
  bool has_no_plan() const { return rules_.empty(); }
  // The statements, one or several a line, with comments.
  const std::string& text() const { return text_; }
  // Sets SOFTDAT_FAULTS and SOFTDAT_FAULTS_LOG. Failure when a file cannot be made.
  void put_into(Environment& environment);
  // After the programs, both: write the log, sorted; the first only if that takes no waiting, and without a word when
  // it cannot be written. finish() returns how many faults fired. Failure when the log cannot be written.
  void write_log_at_once();
  std::size_t finish();

 private:
  void add(const std::string& text, const std::string& name, std::size_t line);
  void check_transport(const Environment& environment) const;
  void read_fired();
  bool write_log();

  const std::string log_;
  bool is_log_written_ = false;
  std::vector<std::string> fired_;  // lines of the log, once they are read
  std::string text_;                // of the statements, one a line
  std::vector<base::FaultRule> rules_;
  std::optional<ScratchDirectory> directory_;  // of plan and log, once they are put into an environment
};

// The statements of a plan's file, without comments. UsageError when it cannot be read, makes no sense, or asks for
// what the transport cannot do; an empty name is the default.
std::vector<std::string> read_statements(const std::string& path, const std::string& transport);

// Orders lines of a log by process, adapter, endpoint, connection and number, and numbers by value.
void sort_fault_log(std::vector<std::string>& lines);

}  // namespace softdat::tools::run
