// SPDX-License-Identifier: BSD-2-Clause
// The environment in which a program finds SoftDAT's libraries and the simulated adapter: of `softdat run` for the
// program alone, of `softdat env` for a shell.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/softdat/command_line.h"

namespace softdat::tools::run {

using Variables = std::vector<std::pair<std::string, std::string>>;

// The words of --env. UsageError when one has no name.
Variables read_assignments(const std::vector<std::string>& assignments);

// What the options of both commands say.
class EnvironmentOptions {
 public:
  // Adds --backend, --transport, --address and --env.
  void add_to(Subcommand& options);
  // The variables of --env. UsageError when one has no name.
  Variables variables() const;

  std::string backend;
  std::string transport;
  std::string address;

 private:
  std::vector<std::string> assignments_;
};

struct Environment {
  Variables set;  // each name once
  std::vector<std::string> unset;

  void put(const std::string& name, const std::string& value);
  // The value that the program would see, ours or set here.
  std::string value_of(const std::string& name) const;
  // "NAME=VALUE" of everything that the program will see.
  std::vector<std::string> merged() const;
};

// The directory of libdat.so.1, libdat2.so.2 and libsoftdat.so. Failure when they are nowhere beside softdat.
std::string library_directory();

// LD_LIBRARY_PATH with our directory first; SOFTDAT_ANY_IA=1, so that every IA name opens the simulator; no
// DAT_OVERRIDE, because a file that it names would count; SOFTDAT_LOG=notice unless it is set; and the options.
Environment make_environment(const EnvironmentOptions& options);

// `word` before the words of `list` that `separator` parts, and not a second time among them.
std::string put_first(const std::string& word, const std::string& list, char separator);

}  // namespace softdat::tools::run
