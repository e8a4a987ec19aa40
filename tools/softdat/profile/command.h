// SPDX-License-Identifier: BSD-2-Clause
// `softdat profile`: the devices that an adapter can be simulated as (docs/PROFILES.md).
#pragma once

#include <string>

#include "tools/softdat/command_line.h"

namespace softdat::tools::profile {

class Command {
 public:
  // Adds the command to `line`, which must live as long.
  explicit Command(CommandLine& line);

  bool is_chosen() const { return options_.is_chosen(); }
  // Returns the exit status. UsageError, Failure.
  int run() const;

 private:
  void check() const;
  void capture() const;
  void show() const;

  Subcommand options_;
  std::string action_;
  std::string name_;
  std::string device_;
  bool is_json_ = false;
  bool is_toml_ = false;
};

// Checks what --profile says, before a program begins. UsageError when there is no such profile, or it makes no sense.
void check_profile(const std::string& name_or_file);

}  // namespace softdat::tools::profile
