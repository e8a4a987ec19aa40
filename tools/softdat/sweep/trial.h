// SPDX-License-Identifier: BSD-2-Clause
// One run of the program with one fault, and what became of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace softdat::tools::sweep {

enum class Outcome {
  kPassed,
  kCleanError,
  kHang,
  kCrash,
  kLeak,
  kWrongData,
  kLostCompletion,
  kDoubledCompletion,
  kNotReached,  // the fault did not fire
};
inline constexpr std::size_t kOutcomes = 9;

const char* name_of(Outcome outcome);
// The reverse of name_of(). Nothing for a word that is no outcome.
std::optional<Outcome> find_outcome(const std::string& name);
// Whether somebody has to look at it.
bool is_bad(Outcome outcome);

// In place of a fault: a run in nasty mode by this seed.
std::string nasty_fault(std::uint32_t seed);
bool is_nasty(const std::string& fault);

struct TrialPlan {
  std::vector<std::string> words;  // softdat run and all its options, but for the faults; "--"; the program
  std::size_t options_end = 0;     // where in `words` options may be added
  std::chrono::duration<double> timeout{0};
  std::optional<int> wrong_data;      // the exit status that tells so
  std::set<std::string> left_before;  // what the program leaves open without a fault
  int stop_descriptor = -1;           // a run is stopped when it can be read; -1: none
};

struct Trial {
  std::string fault;
  Outcome outcome = Outcome::kPassed;
  int status = 0;
  std::string details{};      // stacks of a hang, else the end of what it printed
  std::string least{};        // the least fault that does the same; empty: not looked for
  bool is_disturbed = false;  // found its connection qualifier in use, as by another run; not kept in the results
};

// Runs it; `fault` is one statement or several. `directory` is for its files. Any thread. Failure when it cannot be
// started, run::Interrupted when the descriptor of the plan can be read.
Trial try_fault(const TrialPlan& plan, const std::string& fault, const std::string& directory);

// The stacks of a crash, from a run of the program under gdb. Empty: there is no gdb, or it did not crash again.
std::string crash_stacks(const TrialPlan& plan, const std::string& fault, const std::string& directory);

// A run without a fault: the points at which faults could fire, what it left open, and its exit status.
struct Baseline {
  std::vector<std::string> notes;
  std::set<std::string> left;
  int status = 0;
  bool is_hanging = false;
  std::string output;
  std::chrono::duration<double> time{0};
};
Baseline run_baseline(const TrialPlan& plan, const std::string& directory);

// The command line that repeats it; without a fault, that of the program.
std::string command_line(const TrialPlan& plan, const std::string& fault);

}  // namespace softdat::tools::sweep
