// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/sweep/trial.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <stdio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string_view>

#include "tools/softdat/dat_call.h"
#include "tools/softdat/run/environment.h"
#include "tools/softdat/run/kept_output.h"
#include "tools/softdat/run/process.h"
#include "tools/softdat/run/program_file.h"
#include "tools/softdat/run/shell_text.h"
#include "tools/softdat/run/supervise.h"

namespace softdat::tools::sweep {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::array<const char*, kOutcomes> kNames{"passed",     "clean error", "hang",    "crash",      "leak",
                                                    "wrong data", "lost",        "doubled", "not reached"};
constexpr std::string_view kNasty = "nasty ";
constexpr std::size_t kMostDetails = 4000;
// How much of the end of a run's output is looked at.
constexpr std::size_t kMostOutput = std::size_t{1} << 20;

struct Run {
  int status = 0;
  bool is_hanging = false;
  std::string stacks;
  std::string output;
  std::vector<std::string> fired;
  std::chrono::duration<double> time{0};
};

template <typename Stream>
std::vector<std::string> lines_of(Stream stream) {
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> lines_of(const std::string& text) {
  return lines_of(std::istringstream(text));
}

// How long the process and its descendants were kept from a processor by others, added up.
Clock::duration waited_for_processor(pid_t process) {
  std::vector<pid_t> all = run::descendants_of(process);
  all.push_back(process);
  std::uint64_t sum = 0;
  // From /proc/PID/task/TID/schedstat: ns on a processor, ns in its queue.
  for (const pid_t each : all) {
    std::error_code ignored;
    for (const auto& task : fs::directory_iterator(fmt::format("/proc/{}/task", each), ignored)) {
      std::uint64_t ran = 0, waited = 0;
      if (std::ifstream(task.path() / "schedstat") >> ran >> waited) sum += waited;
    }
  }
  return std::chrono::nanoseconds(sum);
}

std::string stacks_of(pid_t process) {
  const std::string command = fmt::format(
      "command -v gdb >/dev/null && timeout -k 5 60 gdb -q -batch -p {} -ex 'thread apply all backtrace 16' "
      "2>/dev/null",
      process);
  const std::unique_ptr<FILE, int (*)(FILE*)> output(::popen(command.c_str(), "r"), ::pclose);
  std::string text;
  char line[512];
  while (output != nullptr && std::fgets(line, sizeof line, output.get()) != nullptr) {
    const std::string_view read(line);
    if (read.starts_with("#") || read.starts_with("Thread ")) text += line;
  }
  return text;
}

// Its parent has not looked yet after one that has ended.
bool has_ended(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(") ");
  return name_end == text.npos || text.compare(name_end + 2, 1, "Z") == 0;
}

std::string why_no_stacks(pid_t process) {
  if (has_ended(process)) return "it has ended meanwhile";
  if (!run::find_program("gdb")) return "gdb is not installed";
  return "gdb cannot read the process";
}

std::string all_stacks(pid_t process) {
  std::string text;
  for (const pid_t child : run::descendants_of(process)) {
    std::ifstream name(fmt::format("/proc/{}/comm", child));
    std::string program;
    std::getline(name, program);
    if (program == "sh") continue;
    if (program.empty()) program = "a process";
    std::string stacks = stacks_of(child);
    if (stacks.empty()) stacks = fmt::format("no stacks: {}\n", why_no_stacks(child));
    text += fmt::format("{} ({}):\n{}", program, child, stacks);
  }
  return text;
}

// On a busy machine a run that waits for processors would be taken for one that hangs, so this does not count. A
// program that spins waits for processors, too: ten times the time is enough for all.
run::End await_run(pid_t process, const TrialPlan& plan) {
  const auto limit = std::chrono::duration_cast<Clock::duration>(plan.timeout);
  const Clock::time_point begin = Clock::now();
  Clock::time_point deadline = begin + limit;
  while (true) {
    const run::End end = run::await_end(process, deadline - Clock::now(), plan.stop_descriptor);
    const Clock::time_point extended = begin + std::min(limit + waited_for_processor(process), 10 * limit);
    if (end != run::End::kTimeout || extended <= Clock::now()) return end;
    deadline = extended;
  }
}

// The options of softdat run that make the fault.
std::vector<std::string> options_of(const std::string& fault) {
  if (is_nasty(fault)) return {"--nasty", fault.substr(kNasty.size())};
  return {"--fault", fault};
}

std::vector<std::string> words_of(const TrialPlan& plan, const std::string& fault, const std::string& log) {
  std::vector<std::string> words = plan.words;
  std::vector<std::string> added = options_of(fault);
  // A grace of two seconds, so that a program that hangs at its end does not cost its run much.
  added.insert(added.end(), {"--grace", "2", "--faults-log", log});
  words.insert(words.begin() + static_cast<std::ptrdiff_t>(plan.options_end), added.begin(), added.end());
  return words;
}

Run run(const TrialPlan& plan, const std::string& fault, const std::string& directory) {
  const std::string log = directory + "/log";
  fs::remove(log);
  run::KeptOutput output(kMostOutput);
  const run::ProgramDescriptor nothing("/dev/null", O_RDONLY);
  run::StartPlan start_plan;
  start_plan.words = words_of(plan, fault, log);
  start_plan.environment = run::Environment{}.merged();
  start_plan.input = nothing.get();
  start_plan.output = start_plan.error = output.descriptor();
  start_plan.has_own_group = true;
  const Clock::time_point begin = Clock::now();
  const pid_t process = run::start(start_plan);
  output.close();
  const run::End end = await_run(process, plan);
  Run result;
  result.is_hanging = end == run::End::kTimeout;
  // While it still hangs; it is stopped afterwards.
  if (result.is_hanging) result.stacks = all_stacks(process);
  if (end != run::End::kEnded) run::stop(process);
  result.status = run::reap(process);
  if (end == run::End::kInterrupted) throw run::Interrupted();
  result.time = Clock::now() - begin;
  result.output = output.finish();
  result.fired = lines_of(std::ifstream(log));
  return result;
}

// The lines of softdat run's summary about what was left behind, without what differs from run to run.
std::set<std::string> left_in(const std::string& output) {
  std::set<std::string> left;
  for (const std::string& line : lines_of(output)) {
    if (line.starts_with("softdat: left open: ")) left.insert(line);
  }
  return left;
}

bool is_crash(int status) {
  const int number = status - run::kExitSignal;
  return number == SIGSEGV || number == SIGBUS || number == SIGABRT || number == SIGILL || number == SIGFPE ||
         number == SIGTRAP || number == SIGSYS;
}

bool has(const std::string& text, const char* words) {
  return text.find(words) != std::string::npos;
}

// Whether the summary of softdat run tells of a crash: of several programs, the exit status is that of the first.
bool tells_of_crash(const std::string& output) {
  for (const std::string& line : lines_of(output)) {
    if (!line.starts_with("softdat: ")) continue;
    for (const char* const name : {"SEGV", "BUS", "ABRT", "ILL", "FPE", "TRAP", "SYS"}) {
      if (has(line, fmt::format("killed by SIG{}", name).c_str())) return true;
    }
  }
  return false;
}

// The lines in which processes name the instruction that ended them (base/fault_notice.h).
std::string fault_notices(const std::string& output) {
  std::string text;
  for (const std::string& line : lines_of(output)) {
    if (has(line, " ends the process: ")) text += line + '\n';
  }
  return text;
}

// Lost and doubled completions, which are faults of the library, as SOFTDAT_SANITIZE=completions reports them.
// An EVD that overflows loses completions, and says so.
std::optional<Outcome> wrong_completions(const Run& run, const std::string& fault) {
  if (has(run.output, "sanitizer: doubled-completion: ")) return Outcome::kDoubledCompletion;
  const bool may_lose = has(fault, "overflow-evd");
  if (!may_lose && has(run.output, "sanitizer: lost-completion: ")) return Outcome::kLostCompletion;
  return std::nullopt;
}

// In nasty mode nothing fails, so a program that ends with an error has relied on what DAT does not promise.
// From the worst on: a run may show several, and the first counts.
Outcome classify(const TrialPlan& plan, const Run& run, const std::string& fault) {
  if (run.is_hanging) return Outcome::kHang;
  const bool was_found = has(run.output, "ERROR: AddressSanitizer") || has(run.output, "WARNING: ThreadSanitizer");
  if (is_crash(run.status) || was_found || tells_of_crash(run.output)) return Outcome::kCrash;
  if (const auto wrong = wrong_completions(run, fault)) return *wrong;
  if (plan.wrong_data && run.status == *plan.wrong_data) return Outcome::kWrongData;
  if (has(run.output, "ERROR: LeakSanitizer")) return Outcome::kLeak;
  if (is_nasty(fault) && run.status != 0) return Outcome::kWrongData;
  // Crashes and the like count although no fault fired; that the program passed does not.
  if (run.fired.empty()) return Outcome::kNotReached;
  if (run.status != 0) return Outcome::kCleanError;
  for (const std::string& line : left_in(run.output)) {
    if (!plan.left_before.contains(line)) return Outcome::kLeak;
  }
  return Outcome::kPassed;
}

}  // namespace

std::string nasty_fault(std::uint32_t seed) {
  return fmt::format("{}{}", kNasty, seed);
}

bool is_nasty(const std::string& fault) {
  return fault.starts_with(kNasty);
}

const char* name_of(Outcome outcome) {
  return kNames[static_cast<std::size_t>(outcome)];
}

std::optional<Outcome> find_outcome(const std::string& name) {
  for (std::size_t i = 0; i < kOutcomes; ++i) {
    if (name == kNames[i]) return static_cast<Outcome>(i);
  }
  return std::nullopt;
}

bool is_bad(Outcome outcome) {
  return outcome != Outcome::kPassed && outcome != Outcome::kCleanError && outcome != Outcome::kNotReached;
}

Trial try_fault(const TrialPlan& plan, const std::string& fault, const std::string& directory) {
  const Run result = run(plan, fault, directory);
  Trial trial{fault, classify(plan, result, fault), result.status, result.stacks};
  trial.is_disturbed = has(result.output, "answered DAT_CONN_QUAL_IN_USE");
  if (is_crash(result.status)) trial.details = crash_stacks(plan, fault, directory);
  if (!trial.details.empty()) trial.details += fault_notices(result.output);
  if (trial.details.empty() && is_bad(trial.outcome)) trial.details = result.output;
  if (trial.details.size() > kMostDetails) trial.details.erase(0, trial.details.size() - kMostDetails);
  return trial;
}

std::string crash_stacks(const TrialPlan& plan, const std::string& fault, const std::string& directory) {
  if (!run::find_program("gdb")) return "";
  TrialPlan traced = plan;
  const std::initializer_list<std::string> words = {
      "gdb", "-q", "-batch", "-ex", "run", "-ex", "thread apply all backtrace 16", "--args"};
  // gdb runs as the program of softdat run, behind its "--".
  traced.words.insert(traced.words.begin() + static_cast<std::ptrdiff_t>(plan.options_end) + 1, words);
  std::string text;
  for (const std::string& line : lines_of(run(traced, fault, directory).output)) {
    if (line.starts_with("#") || line.starts_with("Thread ")) text += line + '\n';
  }
  return text;
}

Baseline run_baseline(const TrialPlan& plan, const std::string& directory) {
  Run result = run(plan, "note", directory);
  return {std::move(result.fired), left_in(result.output), result.status,
          result.is_hanging,       result.output,          result.time};
}

std::string command_line(const TrialPlan& plan, const std::string& fault) {
  std::string line = "softdat";
  for (std::size_t i = 1; i < plan.words.size(); ++i) {
    if (i == plan.options_end && !fault.empty()) {
      for (const std::string& option : options_of(fault)) line += ' ' + run::shell_quoted(option);
    }
    line += ' ' + run::shell_quoted(plan.words[i]);
  }
  return line;
}

}  // namespace softdat::tools::sweep
