// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/sweep/command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "tools/softdat/figures.h"
#include "tools/softdat/output.h"
#include "tools/softdat/run/end_signals.h"
#include "tools/softdat/run/environment.h"
#include "tools/softdat/run/faults.h"
#include "tools/softdat/run/output_files.h"
#include "tools/softdat/run/program_file.h"
#include "tools/softdat/run/supervise.h"
#include "tools/softdat/scratch_directory.h"
#include "tools/softdat/sweep/point.h"
#include "tools/softdat/sweep/report.h"
#include "tools/softdat/sweep/results_file.h"
#include "tools/softdat/sweep/shrink.h"

namespace softdat::tools::sweep {
namespace {

namespace fs = std::filesystem;

// Until the program's usual time is known.
constexpr double kFirstTimeout = 120;
constexpr double kLeastTimeout = 10;
// The usual time is that on a friendly adapter; a nasty one is slow on purpose.
constexpr double kLeastNastyTimeout = 60;
// A machine with several runs at once is slower, and some failures take the program's own time-outs to end.
constexpr double kTimesUsual = 10;

// On a terminal only: a line that is written over.
class Progress {
 public:
  explicit Progress(std::size_t total) : total_(total), is_shown_(::isatty(STDERR_FILENO) == 1) {}
  void show(std::size_t done, std::size_t bad) const {
    if (!is_shown_) return;
    constexpr std::size_t kWidth = 40;
    const std::size_t full = total_ == 0 ? kWidth : done * kWidth / total_;
    fmt::print(stderr, "\r[{}{}] {} of {}, {} bad", std::string(full, '#'), std::string(kWidth - full, ' '), done,
               total_, bad);
  }
  void end() const {
    if (is_shown_) fmt::print(stderr, "\n");
  }

 private:
  const std::size_t total_;
  const bool is_shown_;
};

// Runs the faults in several threads, and adds each result to the file at once.
class Sweep {
 public:
  Sweep(const TrialPlan& plan, std::vector<std::string> faults, ResultsFile& file)
      : plan_(plan), faults_(std::move(faults)), progress_(faults_.size()), file_(file) {}

  std::vector<Trial> run(std::size_t jobs, const std::string& directory) {
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < jobs; ++i) {
      const std::string own = fmt::format("{}/{}", directory, i);
      fs::create_directory(own);
      try {
        threads.emplace_back([this, own] { work(own); });
      } catch (const std::system_error&) {  // the system makes no more; some are enough
        if (threads.empty()) throw;
        break;
      }
    }
    // A program that hangs is stopped by its run's time limit, so each thread comes to its end.
    for (std::thread& thread : threads) thread.join();
    progress_.end();
    if (failure_) std::rethrow_exception(failure_);
    return std::move(trials_);
  }

 private:
  void work(const std::string& directory) {
    try {
      for (std::size_t i = take(); i < faults_.size(); i = take()) add(try_fault(plan_, faults_[i], directory));
    } catch (...) {
      // The first failure or interruption ends the others after the runs that they are at. The signal stays unread
      // until exit_status(), so its descriptor stops the runs of all threads.
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
      next_ = faults_.size();
    }
  }

  // The index of the next fault.
  std::size_t take() {
    const std::lock_guard lock(mutex_);
    return next_ < faults_.size() ? next_++ : next_;
  }

  void add(Trial trial) {
    const std::lock_guard lock(mutex_);
    file_.add(trial);
    bad_ += is_bad(trial.outcome) ? 1 : 0;
    trials_.push_back(std::move(trial));
    progress_.show(trials_.size(), bad_);
  }

  const TrialPlan& plan_;
  const std::vector<std::string> faults_;
  const Progress progress_;
  std::mutex mutex_;  // guards the rest
  std::size_t next_ = 0;
  ResultsFile& file_;
  std::vector<Trial> trials_;
  std::size_t bad_ = 0;
  std::exception_ptr failure_;
};

// A run that met another one says nothing of the program.
void warn_of_disturbed(const std::vector<Trial>& trials, std::size_t jobs) {
  const auto disturbed = std::count_if(trials.begin(), trials.end(), [](const Trial& t) { return t.is_disturbed; });
  if (disturbed == 0 || jobs == 1) return;
  fmt::print(stderr,
             "softdat: {} of {} runs found their connection qualifier in use, most likely by another run; "
             "sweep again with --jobs 1\n",
             disturbed, trials.size());
}

// Finds, for each of the first `most` bad runs, the least fault that does the same: what a statement can do without
// does not matter.
void shrink_bad(const TrialPlan& plan, std::vector<Trial>& trials, std::size_t most, const std::string& directory) {
  for (Trial& trial : trials) {
    if (!is_bad(trial.outcome) || !trial.least.empty() || is_nasty(trial.fault)) continue;
    if (most-- == 0) return;
    // The outcome is to be the same, not its place: a smaller fault may fail elsewhere.
    const auto is_same = [&](const Statements& tried) {
      return try_fault(plan, joined(tried), directory).outcome == trial.outcome;
    };
    trial.least = joined(shrink(split(trial.fault), is_same));
  }
}

}  // namespace

Command::Command(CommandLine& line) : options_(line.add("sweep", "Let a program fail at every point at which it can")) {
  options_.set_footer(
      "Runs the program once to find the points, then once for each failure at each point. Exit status: 0 when no run\n"
      "hangs, crashes, leaks or tells of wrong data.");
  options_.add_text("--server", "COMMAND", server_, "As of softdat run");
  options_.add_word("--transport", {"auto", "shm", "tcp", "loop"}, transport_, "As of softdat run");
  options_.add_texts("--env", "NAME=VALUE", assignments_, "As of softdat run");
  options_.add_number("-j,--jobs", "N", jobs_, 0, 1024, "Runs at a time; 0: one a processor, with --server one");
  options_.add_number("--sample", "N", sample_, 0, 100000000, "So many failures, chosen by the seed; 0: all");
  options_.add_number("--seed", "N", seed_, 0, ~std::uint64_t{0}, "Chooses the sample");
  options_.add_text("--faults", "FILE", faults_,
                    "Instead of each failure: this plan, as of softdat run; if it is bad, the least part that is");
  options_.add_number("--nasty", "N", nasty_, 1, 100000000,
                      "Instead of failures: N runs in nasty mode, with the seeds from --seed on");
  options_.add_number("--timeout", "SECONDS", timeout_s_, 0, 1e6,
                      "A run that takes longer hangs; 0: ten times the usual time, at least 10, with --nasty 60");
  options_.add_number("--wrong-data", "STATUS", wrong_data_, 0, 255,
                      "The exit status that tells of wrong data; 0: none");
  options_.add_text("--results", "FILE", results_, "Keep what each run did, to resume from it");
  options_.add_flag("--resume", resumes_, "Leave out what stands in the file of results");
  options_.add_number("--shrink", "N", shrunk_, 0, 1000000,
                      "Look for the least fault that does the same as the first N bad runs");
  options_.add_text("--json", "FILE", json_, "Write the report as JSON");
  options_.add_text("--html", "FILE", html_, "Write the report as a page");
  options_.add_program(words_);
}

std::size_t Command::jobs() const {
  if (jobs_ != 0) return jobs_;
  return server_.empty() ? std::max(std::thread::hardware_concurrency(), 1u) : 1;
}

TrialPlan Command::plan() const {
  TrialPlan plan;
  plan.words = {fs::read_symlink("/proc/self/exe").string(), "run"};
  if (!server_.empty()) plan.words.insert(plan.words.end(), {"--server", server_});
  if (!transport_.empty()) plan.words.insert(plan.words.end(), {"--transport", transport_});
  // Tells of completions that the library loses or doubles, and changes nothing else.
  plan.words.insert(plan.words.end(), {"--env", "SOFTDAT_SANITIZE=completions"});
  for (const std::string& assignment : assignments_) plan.words.insert(plan.words.end(), {"--env", assignment});
  plan.options_end = plan.words.size();
  plan.words.emplace_back("--");
  plan.words.insert(plan.words.end(), words_.begin(), words_.end());
  plan.timeout = std::chrono::duration<double>(timeout_s_ > 0 ? timeout_s_ : kFirstTimeout);
  if (wrong_data_ != 0) plan.wrong_data = static_cast<int>(wrong_data_);
  return plan;
}

std::vector<std::string> Command::find_faults(TrialPlan& plan, const std::string& directory) const {
  const Baseline baseline = run_baseline(plan, directory);
  if (baseline.is_hanging || baseline.status != 0) {
    throw Failure(
        fmt::format("the program {} without a failure; sweep takes one that works{}{}",
                    baseline.is_hanging ? "does not end" : fmt::format("ends with status {}", baseline.status),
                    baseline.output.empty() ? "" : ":\n", baseline.output));
  }
  // Left open without a fault, too: no leak that a fault has caused.
  plan.left_before = baseline.left;
  if (timeout_s_ == 0) {
    const double least = nasty_ != 0 ? kLeastNastyTimeout : kLeastTimeout;
    plan.timeout = std::max(baseline.time * kTimesUsual, std::chrono::duration<double>(least));
  }
  if (nasty_ != 0) return nasty_faults(plan);
  if (!faults_.empty()) return {joined(run::read_statements(faults_, transport_))};
  const std::vector<std::string> all = faults_at(baseline.notes);
  if (all.empty()) throw Failure("the program has no point at which it could fail: it opened no simulated adapter");
  std::vector<std::string> chosen = sample(all, sample_, seed_);
  fmt::print(stderr, "softdat: {} points, {} failures, {} of them tried, {} at a time\n", baseline.notes.size(),
             all.size(), chosen.size(), jobs());
  return chosen;
}

std::vector<std::string> Command::nasty_faults(const TrialPlan& plan) const {
  std::vector<std::string> faults;
  for (std::uint32_t i = 0; i < nasty_; ++i) faults.push_back(nasty_fault(static_cast<std::uint32_t>(seed_) + i));
  fmt::print(stderr, "softdat: {} {} in nasty mode, {} at a time; a run hangs after {:.1f} seconds\n", faults.size(),
             faults.size() == 1 ? "run" : "runs", jobs(), plan.timeout.count());
  return faults;
}

void Command::write_reports(const TrialPlan& plan, const std::vector<Trial>& trials) const {
  // Standard output takes one form of the report.
  if (json_ != "-" && html_ != "-") print_out(as_text(plan, trials));
  if (!json_.empty()) write_output(json_, as_json(plan, trials));
  if (!html_.empty()) write_output(html_, as_html(plan, trials));
}

// What is swept, with the options that decide what a run is said to have done.
std::string Command::swept(const TrialPlan& plan) const {
  std::string text = command_line(plan, "");
  if (wrong_data_ != 0) text += fmt::format("; --wrong-data {}", wrong_data_);
  if (timeout_s_ > 0) text += fmt::format("; --timeout {}", timeout_s_);
  return text;
}

// In the order of `faults`.
std::vector<Trial> Command::try_all(const TrialPlan& plan, const std::vector<std::string>& faults,
                                    const std::string& directory) const {
  ResultsFile file(results_, swept(plan), resumes_);
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < faults.size(); ++i) places.emplace(faults[i], i);
  std::set<std::string> known;
  std::vector<Trial> trials;
  for (const Trial& trial : file.trials()) {
    // Results of faults that are not asked for now are left out; of two results of a fault, the first counts.
    if (places.contains(trial.fault) && known.insert(trial.fault).second) trials.push_back(trial);
  }
  std::vector<std::string> left = faults;
  std::erase_if(left, [&](const std::string& fault) { return known.contains(fault); });
  Sweep sweep(plan, std::move(left), file);
  for (Trial& trial : sweep.run(jobs(), directory)) trials.push_back(std::move(trial));
  std::sort(trials.begin(), trials.end(),
            [&](const Trial& a, const Trial& b) { return places[a.fault] < places[b.fault]; });
  return trials;
}

void Command::check_outputs() const {
  if (results_ == "-") throw UsageError("--results \"-\" is no file, from which a sweep could go on; give a name");
  run::require_different({{"--json", json_}, {"--html", html_}, {"--results", results_}, {"--faults", faults_}});
  for (const std::string& file : {json_, html_, results_}) require_writable(file);
}

int Command::run() const {
  constexpr std::uint64_t kMostSeed = 4294967295;
  // Seeds go on from the first, and the last must still be a seed.
  const std::uint64_t most_first = kMostSeed - nasty_ + 1;
  if (nasty_ != 0 && (seed_ < 1 || seed_ > most_first)) {
    throw UsageError(
        fmt::format("--seed {} is no first seed for --nasty {}; it takes 1 to {}", seed_, nasty_, most_first));
  }
  if (!faults_.empty() && (nasty_ != 0 || options_.has("--sample"))) {
    throw UsageError("--faults is one plan, and goes with neither --nasty nor --sample");
  }
  if (nasty_ != 0 && options_.has("--sample"))
    throw UsageError("--sample does not go with --nasty, which has no failures");
  if (words_.empty()) throw UsageError("softdat sweep needs a program, as in: softdat sweep -- your-program");
  static_cast<void>(run::read_assignments(assignments_));
  if (!faults_.empty()) static_cast<void>(run::read_statements(faults_, transport_));
  if (!run::find_program(words_.front())) throw Failure(fmt::format("there is no program \"{}\"", words_.front()));
  check_outputs();
  const run::EndSignals signals;
  const ScratchDirectory directory("softdat-sweep");
  TrialPlan trial_plan = plan();
  trial_plan.stop_descriptor = signals.descriptor();
  try {
    const std::vector<std::string> faults = find_faults(trial_plan, directory.path());
    std::vector<Trial> trials = try_all(trial_plan, faults, directory.path());
    shrink_bad(trial_plan, trials, shrunk_, directory.path());
    write_reports(trial_plan, trials);
    warn_of_disturbed(trials, jobs());
    const bool has_bad = std::any_of(trials.begin(), trials.end(), [](const Trial& t) { return is_bad(t.outcome); });
    return has_bad ? kExitFailure : 0;
  } catch (const run::Interrupted&) {
    print_error(fmt::format("interrupted; what each run did is in \"{}\", and --resume goes on from there", results_));
    return signals.exit_status();
  }
}

}  // namespace softdat::tools::sweep
