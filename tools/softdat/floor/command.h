// SPDX-License-Identifier: BSD-2-Clause
// `softdat floor`: what the machine itself can do, without DAT.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "tools/softdat/floor/two_processes.h"

namespace softdat::tools::floor {

class Command {
 public:
  // Adds the subcommand to `app`; lives as long.
  explicit Command(CLI::App& app);

  bool is_chosen() const { return app_->parsed(); }
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
  Processors processors() const;

  CLI::App* app_;
  std::string only_ = "cache-line,memcpy,futex,tcp,connect";
  std::string sizes_ = "64K,1M";
  unsigned pause_us_ = 200;
  double duration_s_ = 0.2;
  std::string cpus_ = "auto";
  std::string json_;
};

}  // namespace softdat::tools::floor
