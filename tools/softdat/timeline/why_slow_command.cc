// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/timeline/why_slow_command.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "tools/softdat/output.h"
#include "tools/softdat/scratch_directory.h"
#include "tools/softdat/timeline/causes.h"

namespace softdat::tools::timeline {
namespace {

constexpr std::size_t kMostCauses = 5;
constexpr std::size_t kMostEvents = 100'000'000;
// Of the whole; what is less is not worth a change.
constexpr double kLeastShare = 0.001;

constexpr const char* kFooter =
    "The program runs as under softdat run, with a timeline. Times at which several threads wait for the same reason "
    "count once.\n"
    "Exit status: that of softdat run.";

// The terminal's signals are for the programs; we go on when they have ended.
class IgnoredSignals {
 public:
  IgnoredSignals() : interrupt_(std::signal(SIGINT, SIG_IGN)), quit_(std::signal(SIGQUIT, SIG_IGN)) {}
  ~IgnoredSignals() {
    std::signal(SIGINT, interrupt_);
    std::signal(SIGQUIT, quit_);
  }
  IgnoredSignals(const IgnoredSignals&) = delete;
  IgnoredSignals& operator=(const IgnoredSignals&) = delete;

 private:
  void (*const interrupt_)(int);
  void (*const quit_)(int);
};

// Runs this program with these words, and with our input and output. Returns its exit status.
int run_self(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const IgnoredSignals ignored;
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t usual;
  ::sigemptyset(&usual);
  ::sigaddset(&usual, SIGINT);
  ::sigaddset(&usual, SIGQUIT);
  ::posix_spawnattr_setsigdefault(&attributes, &usual);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, "/proc/self/exe", nullptr, &attributes, arguments.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) throw Failure(fmt::format("cannot start softdat run: {}", std::strerror(error)));
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
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
  options_.add_program(words_);
}

std::vector<std::string> WhySlowCommand::run_words(const std::string& file) const {
  std::vector<std::string> words{"softdat", "run", "--quiet", "--timeline", file};
  if (options_.has("--copies")) words.insert(words.end(), {"-n", fmt::format("{}", copies_)});
  if (!server_.empty()) words.insert(words.end(), {"--server", server_});
  if (options_.has("--transport")) words.insert(words.end(), {"--transport", transport_});
  if (timeout_s_ > 0) words.insert(words.end(), {"--timeout", fmt::format("{}", timeout_s_)});
  words.emplace_back("--");
  words.insert(words.end(), words_.begin(), words_.end());
  return words;
}

int WhySlowCommand::run() const {
  if (words_.empty()) throw UsageError("softdat why-slow needs a program, as in: softdat why-slow -- dtest -P sim0");
  const ScratchDirectory scratch("softdat-why-slow");
  const std::string file = keep_.empty() ? scratch.path() + "/timeline" : keep_;
  const int status = run_self(run_words(file));
  if (::access(file.c_str(), R_OK) != 0) return status;  // the run has said why
  explain(file);
  return status;
}

void WhySlowCommand::explain(const std::string& file) const {
  const Trace trace = read_trace(file, kMostEvents);
  const Activity activity = read_activity(trace);
  auto causes = find_causes(trace, activity);
  std::erase_if(causes, [](const Cause& cause) { return cause.share < kLeastShare; });
  std::string text =
      fmt::format("{} operations in {}.", activity.operations.size(), time_text(activity.whole.length()));
  if (trace.lost + trace.left_out > 0) {
    text += fmt::format(" {} events are missing, so the figures are too low.", trace.lost + trace.left_out);
  }
  text += causes.empty() ? " No cause of lost time was found.\n" : " Time was lost, the largest cause first:\n";
  for (std::size_t i = 0; i < std::min(causes.size(), kMostCauses); ++i) {
    const Cause& cause = causes[i];
    text += fmt::format("{}. {}: {:.1f} % of the time, {}: {}.\n   Remedy: {}.\n", i + 1, cause.key, cause.share * 100,
                        time_text(cause.lost), cause.what, cause.remedy);
  }
  print_out(text);
}

}  // namespace softdat::tools::timeline
