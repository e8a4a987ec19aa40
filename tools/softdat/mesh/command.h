// SPDX-License-Identifier: BSD-2-Clause
// `softdat mesh`: many processes of this machine, each connected with all others.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tools/softdat/child.h"
#include "tools/softdat/command_line.h"
#include "tools/softdat/figures.h"

namespace softdat::tools::mesh {

class Command {
 public:
  // Adds the command to `line`, which must live as long.
  explicit Command(CommandLine& line);

  bool is_chosen() const { return options_.is_chosen(); }
  // Returns the exit status. Failure when a process fails.
  int run() const;

 private:
  using Children = std::vector<std::unique_ptr<Child>>;

  Children start() const;
  Figures measure(const Children& children) const;
  void write(const Figures& figures) const;

  Subcommand options_;
  std::uint32_t processes_ = 64;
  std::uint32_t registrations_ = 4096;
  double idle_s_ = 1;
  std::string ia_ = "sim0";
  std::string transport_;
  std::string json_;
};

}  // namespace softdat::tools::mesh
