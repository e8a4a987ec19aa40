// SPDX-License-Identifier: BSD-2-Clause
// The capture of `softdat run --capture`: each process writes a file of its own into a directory, and the end makes one
// file of them (docs/decisions/0025-captures.md).
#pragma once

#include <cstdint>
#include <string>

#include "tools/softdat/command_line.h"
#include "tools/softdat/run/environment.h"

namespace softdat::tools::run {

class CaptureOptions {
 public:
  // Adds --capture, --snaplen and --capture-buffer.
  void add_to(Subcommand& options);
  // UsageError when the options do not go together, or with this environment of the programs.
  void check(const Subcommand& options, const Environment& environment) const;

  std::string file;
  std::uint32_t snap_length = kWhole;
  std::uint32_t buffer_kib = 65536;

  static constexpr std::uint32_t kWhole = 65535;
};

class Capture {
 public:
  // Makes the file, so that a name that cannot be written is known before the program runs. Failure. An empty file
  // name: nothing is captured.
  explicit Capture(const CaptureOptions& options);
  // Removes the directory, unless finish() has failed.
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  bool is_empty() const { return options_.file.empty(); }
  void put_into(Environment& environment) const;
  // After the programs: makes the file. Returns what to tell of it. Failure when it cannot be written.
  std::string finish();

 private:
  const CaptureOptions options_;
  std::string directory_;
  bool is_kept_ = false;
};

}  // namespace softdat::tools::run
