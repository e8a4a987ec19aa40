// SPDX-License-Identifier: BSD-2-Clause
// `softdat mesh`: many processes of this machine, each connected with all others.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tools/softdat/child.h"
#include "tools/softdat/figures.h"

namespace softdat::tools::mesh {

class Command {
 public:
  // Adds the subcommand to `app`; lives as long.
  explicit Command(CLI::App& app);

  bool is_chosen() const { return app_->parsed(); }
  // Returns the exit status. Failure when a process fails.
  int run() const;

 private:
  using Children = std::vector<std::unique_ptr<Child>>;

  Children start() const;
  Figures measure(const Children& children) const;
  void write(const Figures& figures) const;

  CLI::App* app_;
  std::uint32_t processes_ = 64;
  std::uint32_t registrations_ = 4096;
  double idle_s_ = 1;
  std::string ia_ = "sim0";
  std::string transport_;
  std::string json_;
};

}  // namespace softdat::tools::mesh
