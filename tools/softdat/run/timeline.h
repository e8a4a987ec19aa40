// SPDX-License-Identifier: BSD-2-Clause
// The timeline of `softdat run --timeline`: each process writes a file of its own into a directory, and the end makes
// one compressed file of them (docs/decisions/0026-timelines.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tools/softdat/command_line.h"
#include "tools/softdat/run/environment.h"
#include "tools/softdat/run/parts_directory.h"

namespace softdat::tools::run {

class TimelineOptions {
 public:
  // Adds --timeline and --timeline-buffer.
  void add_to(Subcommand& options);
  // UsageError when the options do not go together, or with this environment of the programs.
  void check(const Subcommand& options, const Environment& environment) const;

  std::string file;
  std::uint32_t buffer_kib = 16384;
};

class Timeline {
 public:
  // Makes the file (PartsDirectory). An empty file name: there is no timeline. Throws Failure.
  explicit Timeline(const TimelineOptions& options);

  bool is_empty() const { return options_.file.empty(); }
  void put_into(Environment& environment) const;
  // After the programs: makes the file. Returns what to tell of it. Failure when it cannot be written.
  std::string finish();

 private:
  const TimelineOptions options_;
  std::optional<PartsDirectory> parts_;
};

}  // namespace softdat::tools::run
