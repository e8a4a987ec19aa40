// SPDX-License-Identifier: BSD-2-Clause
// `softdat run --model`: what the run would take on real networks, from its timeline (docs/decisions/0029-timing.md).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "simnic/model/network.h"
#include "tools/softdat/command_line.h"
#include "tools/softdat/run/environment.h"
#include "tools/softdat/run/timeline.h"
#include "tools/softdat/scratch_directory.h"

namespace softdat::tools::run {

class ModelOptions {
 public:
  // Adds --model, --model-rate, --model-compute and --model-json.
  void add_to(Subcommand& options);
  // UsageError when the options do not go together, or there is no such network.
  void check(const Subcommand& options, const Environment& environment) const;

  std::string names;     // separated by commas; empty: nothing is predicted
  double rate_gbit = 0;  // 0: that of the network
  double compute = 1;
  std::string json;
};

class Model {
 public:
  // Makes a place for the timeline, if `timeline` names none. Failure.
  Model(const ModelOptions& options, TimelineOptions& timeline);

  bool is_empty() const { return options_.names.empty(); }
  void put_into(Environment& environment) const;
  // After the timeline is written: writes the JSON, and returns lines for the summary. Failure.
  std::vector<std::string> finish() const;

 private:
  const ModelOptions options_;
  std::unique_ptr<ScratchDirectory> scratch_;
  std::string file_;
};

}  // namespace softdat::tools::run
