// SPDX-License-Identifier: BSD-2-Clause
// `softdat lint`: runs a program as on each device of a list, and tells on which it would not run, and why.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/softdat/command_line.h"

namespace softdat::tools::profile {

enum class Verdict : std::uint8_t {
  kRuns,
  kAdapts,   // runs, although a call was refused
  kRefused,  // fails after a call was refused, or something else was said
  kFails,    // fails, and nothing was said that is not said without a profile
  kHangs,
};
const char* name_of(Verdict verdict);

// One run.
struct Trial {
  std::string profile;
  Verdict verdict = Verdict::kRuns;
  int status = 0;
  std::vector<std::string> sentences{};  // what was said, without that of the run without a profile
  std::string output{};                  // the end of what it printed; of one that does not run
};

class LintCommand {
 public:
  // Adds the command to `line`, which must live as long.
  explicit LintCommand(CommandLine& line);

  bool is_chosen() const { return options_.is_chosen(); }
  // Returns the exit status: 1 when the program does not run on some device. UsageError, Failure.
  int run() const;

 private:
  struct Run {
    int status = 0;
    bool has_adapter = false;  // of the run without a profile: it opened one
    std::vector<std::string> sentences;
    std::string output;  // the end of it
  };
  struct Place {
    std::string directory;  // for the files of a run
    int stop_descriptor;    // a run is stopped when it can be read
  };

  std::vector<std::string> chosen_profiles() const;
  std::vector<std::string> words_for(const std::string& profile, const std::string& directory) const;
  // These throw Failure, and run::Interrupted after the run has been stopped.
  Run run_once(const std::string& profile, const Place& place) const;
  Trial try_profile(const std::string& profile, const Run& baseline, const Place& place) const;
  std::vector<Trial> try_all(const std::vector<std::string>& profiles, const Place& place) const;
  void check() const;
  void report(const std::vector<Trial>& trials) const;

  Subcommand options_;
  std::vector<std::string> words_;
  std::vector<std::string> assignments_;
  std::string profiles_;
  std::string server_;
  std::string transport_;
  std::string json_;
  std::uint32_t copies_ = 1;
  double timeout_s_ = 60;
};

}  // namespace softdat::tools::profile
