// SPDX-License-Identifier: BSD-2-Clause
// `softdat perf`: the command line, and what it means.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/softdat/command_line.h"
#include "tools/softdat/perf/pairs.h"
#include "tools/softdat/perf/result.h"

namespace softdat::tools::perf {

class Command {
 public:
  // Adds the command to `line`, which must live as long.
  explicit Command(CommandLine& line);

  bool is_chosen() const { return options_.is_chosen(); }
  // Returns the exit status. UsageError when an option is wrong, Failure when the run fails.
  int run() const;

 private:
  void add_what();
  void add_how();
  void add_where();
  void add_output();

  RunPlan plan() const;
  void add_cases(RunPlan& plan) const;
  std::vector<Case> cases_of(Measure measure, const std::vector<Operation>& operations) const;
  Case case_of(Measure measure) const;
  void set_samples(RunPlan& plan) const;
  void set_setup(RunPlan& plan) const;
  void set_sides(RunPlan& plan) const;
  std::vector<int> processors() const;
  void check_options() const;
  void check_sides() const;
  static void require_memory(const Case& what);
  void check_measure(Measure measure) const;
  int serve(const RunPlan& plan) const;
  int measure(const RunPlan& plan) const;
  std::uint32_t busy_threads(const RunPlan& plan) const;
  void write_files(const RunPlan& plan, const std::vector<Result>& results) const;

  Subcommand options_;
  std::string measures_ = "latency,bandwidth";
  std::string operations_ = "send,write,read";
  std::string sizes_ = "8,64,512,4K,32K,256K,1M";
  double duration_s_ = 0.2;
  std::uint64_t iterations_ = 0;
  std::uint32_t window_ = 0;
  std::uint32_t signal_every_ = 0;
  std::string waiting_ = "poll";
  std::string target_ = "poll";
  std::uint32_t pause_us_ = 0;
  bool memory_only_ = false;
  std::uint32_t polls_first_ = 0;
  std::uint32_t event_queues_ = 0;
  std::uint32_t threads_ = 1;
  bool fresh_memory_ = false;
  bool verify_ = false;
  std::uint32_t endpoints_ = 1;
  std::uint32_t active_ = 0;
  std::uint32_t depth_ = 128;
  std::uint32_t processes_ = 1;
  std::string ia_ = "sim0";
  std::string transport_;
  std::string cpus_ = "auto";
  bool is_server_ = false;
  std::string host_;
  std::uint64_t port_ = 18515;
  std::string json_;
  std::string samples_;
  std::string plot_;
};

}  // namespace softdat::tools::perf
