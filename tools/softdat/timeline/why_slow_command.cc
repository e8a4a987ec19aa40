// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/timeline/why_slow_command.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <new>
#include <optional>
#include <vector>

#include "tools/softdat/output.h"
#include "tools/softdat/run/environment.h"
#include "tools/softdat/run/process.h"
#include "tools/softdat/scratch_directory.h"
#include "tools/softdat/timeline/causes.h"

namespace softdat::tools::timeline {
namespace {

constexpr std::size_t kMostCauses = 5;
// Of the whole; what is less is not worth a change.
constexpr double kLeastShare = 0.001;

constexpr const char* kFooter =
    "The program runs as under softdat run, with a timeline. Times at which several threads wait for the same reason "
    "count once.\n"
    "Exit status: that of softdat run; 0 with --read.";

// For the signal handler: softdat run, and a signal that came before it was there.
volatile pid_t g_run = 0;
volatile std::sig_atomic_t g_early = 0;

void pass_on(int signal) {
  if (g_run > 0) {
    ::kill(g_run, signal);
  } else {
    g_early = signal;
  }
}

// The terminal's signals are for the programs, and others are passed on to them: we go on when they have ended. A
// signal that was ignored when we began stays ignored, here and in the programs, as nohup(1) wants it.
class Signals {
 public:
  Signals() {
    for (const int signal : {SIGINT, SIGQUIT}) take(signal, SIG_IGN);
    for (const int signal : {SIGTERM, SIGHUP}) take(signal, pass_on);
  }
  ~Signals() {
    g_run = 0;
    for (const int signal : taken_) std::signal(signal, SIG_DFL);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // Those that programs must have as they are by default.
  const std::vector<int>& taken() const { return taken_; }

 private:
  void take(int signal, void (*handler)(int)) {
    if (run::is_ignored(signal)) return;
    taken_.push_back(signal);
    std::signal(signal, handler);
  }

  std::vector<int> taken_;
};

// Runs this program with these words behind its name, and with our input and output; it is killed with us. Returns its
// exit status.
int run_self(const std::vector<std::string>& words) {
  run::StartPlan plan;
  plan.words = {std::filesystem::read_symlink("/proc/self/exe").string()};
  plan.words.insert(plan.words.end(), words.begin(), words.end());
  plan.environment = run::Environment{}.merged();
  const Signals signals;
  plan.by_default = signals.taken();
  const pid_t pid = run::start(plan);
  g_run = pid;
  if (g_early != 0) ::kill(pid, g_early);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return run::to_exit_status(status);
}

// When the file was last written; nothing if it is not there.
std::optional<std::filesystem::file_time_type> age_of(const std::string& file) {
  std::error_code error;
  const auto time = std::filesystem::last_write_time(file, error);
  return error ? std::nullopt : std::optional(time);
}

// Whether softdat run could not make the timeline, as on a full disk: then it leaves the parts beside it.
// Then softdat run has told of it, and there is nothing to add.
bool has_parts(const std::string& file) {
  namespace fs = std::filesystem;
  const fs::path path = fs::absolute(file);
  const std::string begin = path.filename().string() + ".parts-";
  return std::ranges::any_of(fs::directory_iterator(path.parent_path()), [&](const fs::directory_entry& entry) {
    return entry.path().filename().string().starts_with(begin);
  });
}

std::string time_text(std::uint64_t nanoseconds) {
  const auto seconds = static_cast<double>(nanoseconds) / 1e9;
  return seconds >= 1 ? fmt::format("{:.2f} s", seconds) : fmt::format("{:.2f} ms", seconds * 1e3);
}

}  // namespace

WhySlowCommand::WhySlowCommand(CommandLine& line)
    : options_(line.add("why-slow", "Run a program and say where it loses time, and which calls to change")) {
  options_.set_footer(kFooter);
  options_.add_number("-n,--copies", "N", copies_, 1, 1024, "As softdat run");
  options_.add_text("--server", "COMMAND", server_, "As softdat run");
  options_.add_word("--transport", {"auto", "shm", "tcp", "loop"}, transport_, "As softdat run");
  options_.add_number("--timeout", "SECONDS", timeout_s_, 0, 1e6, "As softdat run");
  options_.add_text("--timeline", "FILE", keep_, "Keep the timeline there");
  options_.add_text("--read", "FILE", read_, "Explain this timeline, and run no program");
  options_.add_program(words_);
}

std::vector<std::string> WhySlowCommand::run_words(const std::string& file) const {
  std::vector<std::string> words{"run", "--quiet", "--timeline", file};
  if (options_.has("--copies")) words.insert(words.end(), {"-n", fmt::format("{}", copies_)});
  if (!server_.empty()) words.insert(words.end(), {"--server", server_});
  if (options_.has("--transport")) words.insert(words.end(), {"--transport", transport_});
  if (timeout_s_ > 0) words.insert(words.end(), {"--timeout", fmt::format("{}", timeout_s_)});
  words.emplace_back("--");
  words.insert(words.end(), words_.begin(), words_.end());
  return words;
}

void WhySlowCommand::check() const {
  if (read_.empty()) {
    if (!words_.empty()) return;
    throw UsageError(
        "softdat why-slow needs a program, as in: softdat why-slow -- softdat quickstart, or a timeline, as in: "
        "softdat why-slow --read run.perfetto-trace");
  }
  if (!words_.empty()) throw UsageError("--read FILE runs no program. Leave one of both away");
  for (const char* const option : {"--copies", "--server", "--transport", "--timeout", "--timeline"}) {
    if (options_.has(option)) throw UsageError(fmt::format("--read FILE runs no program. Leave {} away", option));
  }
}

int WhySlowCommand::run() const {
  check();
  if (read_.empty()) return run_program();
  explain(read_);
  return 0;
}

// A file that the run has not written is of another one: the run has said why.
int WhySlowCommand::run_program() const {
  const ScratchDirectory scratch("softdat-why-slow");
  const std::string file = keep_.empty() ? scratch.path() + "/timeline" : keep_;
  const auto before = age_of(file);
  const int status = run_self(run_words(file));
  const auto after = age_of(file);
  if (!after || after == before) return status;
  if (std::filesystem::is_empty(file)) {
    if (!has_parts(file)) print_note("there is no timeline: no adapter was opened");
    return status;
  }
  try {
    explain(file);
  } catch (const NothingHappened&) {
    print_note("there is nothing to explain: an adapter was opened, and the program posted nothing on it");
  } catch (const OutputClosed&) {
    throw;
  } catch (const Failure& failure) {
    if (status == 0) throw;
    print_error(failure.what());
  }
  return status;
}

void WhySlowCommand::explain(const std::string& file) const {
  try {
    print_out(explanation(file));
  } catch (const std::bad_alloc&) {
    throw too_large(file);
  }
}

std::string WhySlowCommand::explanation(const std::string& file) const {
  const Trace trace = read_trace(file, kMostEvents);
  const Activity activity = read_activity(trace);
  auto causes = find_causes(trace, activity);
  std::erase_if(causes, [](const Cause& cause) { return cause.share < kLeastShare; });
  std::string text =
      fmt::format("{} operations in {}.", activity.operations.size(), time_text(activity.whole.length()));
  if (trace.lost + trace.left_out > 0) {
    text += fmt::format(" {} events are missing, so the figures are too low.", trace.lost + trace.left_out);
  }
  if (trace.is_cut_off) text += " The end of the file is missing.";
  if (trace.broken > 0) text += fmt::format(" {} packets of the file make no sense.", trace.broken);
  text += causes.empty() ? " No cause of lost time was found.\n" : " Time was lost, the largest cause first:\n";
  for (std::size_t i = 0; i < std::min(causes.size(), kMostCauses); ++i) {
    const Cause& cause = causes[i];
    text += fmt::format("{}. {}: {:.1f} % of the time, {}: {}.\n   Remedy: {}.\n", i + 1, cause.key, cause.share * 100,
                        time_text(cause.lost), cause.what, cause.remedy);
  }
  return text;
}

}  // namespace softdat::tools::timeline
