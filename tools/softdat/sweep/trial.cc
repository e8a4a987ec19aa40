// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/sweep/trial.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "tools/softdat/dat_call.h"
#include "tools/softdat/run/environment.h"
#include "tools/softdat/run/process.h"
#include "tools/softdat/run/shell_text.h"

namespace softdat::tools::sweep {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::array<const char*, kOutcomes> kNames{"passed", "clean error", "hang",       "crash",
                                                    "leak",   "wrong data",  "not reached"};
constexpr std::size_t kMostDetails = 4000;
// How long a program that was stopped may take to end.
constexpr auto kStopTime = std::chrono::seconds(10);

struct Run {
  int status = 0;
  bool is_hanging = false;
  std::string stacks;
  std::string output;
  std::vector<std::string> fired;
  std::chrono::duration<double> time{0};
};

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Whether the process ends within that time.
bool ends_within(pid_t process, Clock::duration time) {
  const int descriptor = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
  if (descriptor < 0) return false;
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
  pollfd entry{.fd = descriptor, .events = POLLIN, .revents = 0};
  const Clock::time_point deadline = Clock::now() + time;
  int ready = ::poll(&entry, 1, static_cast<int>(milliseconds));
  while (ready < 0 && errno == EINTR) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    ready = ::poll(&entry, 1, static_cast<int>(std::max<long>(left, 0)));
  }
  ::close(descriptor);
  return ready > 0;
}

// All that it started, and what these started.
std::vector<pid_t> descendants_of(pid_t process) {
  std::vector<pid_t> found{process};
  for (std::size_t i = 0; i < found.size(); ++i) {
    std::error_code ignored;
    for (const auto& task : fs::directory_iterator(fmt::format("/proc/{}/task", found[i]), ignored)) {
      std::ifstream children(task.path() / "children");
      for (pid_t child = 0; children >> child;) found.push_back(child);
    }
  }
  found.erase(found.begin());
  return found;
}

std::string stacks_of(pid_t process) {
  const std::string command = fmt::format(
      "command -v gdb >/dev/null && gdb -q -batch -p {} -ex 'thread apply all backtrace 16' 2>/dev/null", process);
  const std::unique_ptr<FILE, int (*)(FILE*)> output(::popen(command.c_str(), "r"), ::pclose);
  std::string text;
  char line[512];
  while (output != nullptr && std::fgets(line, sizeof line, output.get()) != nullptr) {
    const std::string_view read(line);
    if (read.starts_with("#") || read.starts_with("Thread ")) text += line;
  }
  return text;
}

std::string all_stacks(pid_t process) {
  std::string text;
  for (const pid_t child : descendants_of(process)) {
    std::ifstream name(fmt::format("/proc/{}/comm", child));
    std::string program;
    std::getline(name, program);
    if (program == "sh") continue;
    const std::string stacks = stacks_of(child);
    text += fmt::format("{} ({}):\n{}", program, child, stacks.empty() ? "no stacks: gdb is not installed\n" : stacks);
  }
  return text;
}

void stop(pid_t process) {
  const std::vector<pid_t> children = descendants_of(process);
  ::kill(process, SIGTERM);
  if (ends_within(process, kStopTime)) return;
  for (const pid_t child : children) ::kill(child, SIGKILL);
  ::kill(process, SIGKILL);
}

Run run(const TrialPlan& plan, const std::string& fault, const std::string& directory) {
  const std::string output = directory + "/output", log = directory + "/log";
  fs::remove(log);
  const int file = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (file < 0 || nothing < 0) throw Failure(fmt::format("cannot write to the directory \"{}\"", directory));
  run::StartPlan start_plan;
  start_plan.words = plan.words;
  const std::initializer_list<std::string> added = {"--grace", "2", "--fault", fault, "--faults-log", log};
  start_plan.words.insert(start_plan.words.begin() + static_cast<std::ptrdiff_t>(plan.options_end), added);
  start_plan.environment = run::Environment{}.merged();
  start_plan.input = nothing;
  start_plan.output = start_plan.error = file;
  const Clock::time_point begin = Clock::now();
  const pid_t process = run::start(start_plan);
  Run result;
  result.is_hanging = !ends_within(process, std::chrono::duration_cast<Clock::duration>(plan.timeout));
  if (result.is_hanging) {
    result.stacks = all_stacks(process);
    stop(process);
  }
  int status = 0;
  ::waitpid(process, &status, 0);
  ::close(file);
  ::close(nothing);
  result.time = Clock::now() - begin;
  result.status = run::to_exit_status(status);
  result.output = read_file(output);
  result.fired = lines_of(read_file(log));
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

Outcome classify(const TrialPlan& plan, const Run& run) {
  if (run.is_hanging) return Outcome::kHang;
  const bool was_found = has(run.output, "ERROR: AddressSanitizer") || has(run.output, "WARNING: ThreadSanitizer");
  if (is_crash(run.status) || was_found) return Outcome::kCrash;
  if (plan.wrong_data && run.status == *plan.wrong_data) return Outcome::kWrongData;
  if (has(run.output, "ERROR: LeakSanitizer")) return Outcome::kLeak;
  if (run.fired.empty()) return Outcome::kNotReached;
  if (run.status != 0) return Outcome::kCleanError;
  for (const std::string& line : left_in(run.output)) {
    if (!plan.left_before.contains(line)) return Outcome::kLeak;
  }
  return Outcome::kPassed;
}

}  // namespace

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
  return outcome == Outcome::kHang || outcome == Outcome::kCrash || outcome == Outcome::kLeak ||
         outcome == Outcome::kWrongData;
}

Trial try_fault(const TrialPlan& plan, const std::string& fault, const std::string& directory) {
  const Run result = run(plan, fault, directory);
  Trial trial{fault, classify(plan, result), result.status, result.stacks};
  if (trial.details.empty() && is_bad(trial.outcome)) trial.details = result.output;
  if (trial.details.size() > kMostDetails) trial.details.erase(0, trial.details.size() - kMostDetails);
  return trial;
}

Baseline run_baseline(const TrialPlan& plan, const std::string& directory) {
  Run result = run(plan, "note", directory);
  return {std::move(result.fired), left_in(result.output), result.status,
          result.is_hanging,       result.output,          result.time};
}

std::string command_line(const TrialPlan& plan, const std::string& fault) {
  std::string line = "softdat";
  for (std::size_t i = 1; i < plan.words.size(); ++i) {
    if (i == plan.options_end) line += " --fault " + run::shell_quoted(fault);
    line += ' ' + run::shell_quoted(plan.words[i]);
  }
  return line;
}

}  // namespace softdat::tools::sweep
