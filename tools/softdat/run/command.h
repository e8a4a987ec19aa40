// SPDX-License-Identifier: BSD-2-Clause
// `softdat run`: runs a program that was built for any DAT library on the simulated adapter.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/softdat/command_line.h"
#include "tools/softdat/run/capture.h"
#include "tools/softdat/run/environment.h"
#include "tools/softdat/run/faults.h"
#include "tools/softdat/run/findings.h"
#include "tools/softdat/run/hosts.h"
#include "tools/softdat/run/job.h"
#include "tools/softdat/run/model.h"
#include "tools/softdat/run/summary.h"
#include "tools/softdat/run/timeline.h"

namespace softdat::tools::run {

class Command {
 public:
  // Adds the command to `line`, which must live as long.
  explicit Command(CommandLine& line);

  bool is_chosen() const { return options_.is_chosen(); }
  // Returns the exit status: the program's. UsageError, Failure.
  int run();

 private:
  int finish(int status, const Findings& findings, const Said& said) const;
  void check() const;
  std::size_t servers() const { return server_.empty() ? 0 : 1; }
  std::size_t clients() const;
  bool is_gathered() const;
  bool has_own_groups() const;
  void provide_descriptors() const;
  void check_sanitizer() const;
  void check_outputs() const;
  void warn_of(const std::string& word) const;
  Environment known_environment() const;
  void put_profile(Environment& environment) const;
  Environment environment(const std::string& socket) const;
  void tell_of(Faults& faults, const Summary& summary) const;
  void tell_of(Timeline& timeline, const Model& model, const Summary& summary) const;
  JobPlan plan(const Environment& environment, const std::vector<Host>& hosts) const;
  CopyPlan plan_copy(const Environment& environment, const std::vector<Host>& hosts, std::size_t index) const;

  Subcommand options_;
  EnvironmentOptions environment_;
  FaultOptions faults_;
  CaptureOptions capture_;
  std::uint32_t nasty_ = 0;  // a value of SOFTDAT_NASTY; 0: as the environment says
  TimelineOptions timeline_;
  ModelOptions model_;
  std::vector<std::string> words_;
  std::string server_;
  std::uint32_t copies_ = 1;
  std::uint32_t hosts_ = 0;
  double timeout_s_ = 0;
  double listen_within_s_ = 30;
  double grace_s_ = 10;
  bool is_quiet_ = false;
  bool has_no_counters_ = false;
  std::string profile_;
  std::string words_file_;
  std::string sanitize_;  // empty, or a value of SOFTDAT_SANITIZE
  std::string suppressions_;
  std::string findings_file_;
  std::uint32_t error_exitcode_ = 0;
};

}  // namespace softdat::tools::run
