// SPDX-License-Identifier: BSD-2-Clause
// `softdat floor`: what the machine itself can do, without DAT.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/softdat/command_line.h"
#include "tools/softdat/floor/two_processes.h"

namespace softdat::tools::floor {

class Command {
 public:
  // Adds the command to `line`, which must live as long.
  explicit Command(CommandLine& line);

  bool is_chosen() const { return options_.is_chosen(); }
  // Returns the exit status.
  int run() const;

 private:
  struct Floor {
    std::string kind;  // the word of --only
    std::string name;
    std::string unit;
    std::function<double()> measure;
  };
  std::vector<Floor> floors() const;
  // The words of --only. UsageError for an unknown one.
  std::vector<std::string> wanted_kinds() const;
  Processors processors() const;

  Subcommand options_;
  std::string only_ = "cache-line,memcpy,futex,tcp,connect";
  std::string sizes_ = "64K,1M";
  std::uint32_t pause_us_ = 200;
  double duration_s_ = 0.2;
  std::string cpus_ = "auto";
  std::string json_;
};

}  // namespace softdat::tools::floor
