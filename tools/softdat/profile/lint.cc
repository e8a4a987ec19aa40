// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/profile/lint.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string_view>

#include "base/runner.h"
#include "simnic/model/profile_file.h"
#include "tools/softdat/figures.h"
#include "tools/softdat/output.h"
#include "tools/softdat/profile/command.h"
#include "tools/softdat/run/end_signals.h"
#include "tools/softdat/run/environment.h"
#include "tools/softdat/run/kept_output.h"
#include "tools/softdat/run/process.h"
#include "tools/softdat/run/supervise.h"
#include "tools/softdat/scratch_directory.h"
#include "tools/softdat/words.h"

namespace softdat::tools::profile {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::array<const char*, 5> kVerdicts{"runs", "adapts", "refused", "fails", "hangs"};
// Of the end of what a run prints: what is kept, and how many lines of it the table shows.
constexpr std::size_t kKeptOutput = std::size_t{1} << 20;
constexpr std::size_t kMostOutput = 4000;
constexpr std::size_t kShownLines = 5;
// softdat run has the limit of time.
constexpr auto kForever = std::chrono::hours(24 * 365);

bool is_bad(Verdict verdict) {
  return verdict != Verdict::kRuns && verdict != Verdict::kAdapts;
}

std::string read_whole(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<std::string> read_sentences(const std::string& path) {
  std::vector<std::string> sentences;
  const Json json = Json::parse(read_whole(path), nullptr, false);
  if (!json.is_array()) return sentences;
  for (const Json& row : json) {
    if (row.contains("sentence")) sentences.push_back(row["sentence"].get<std::string>());
  }
  return sentences;
}

// Whether the summary of softdat run tells of an adapter, as in "softdat: 2 adapters opened, ...".
bool tells_of_adapter(const std::string& output) {
  constexpr std::string_view kBegin = "softdat: ";
  std::istringstream file(output);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(kBegin)) continue;
    const std::size_t end = std::min(line.find_first_not_of("0123456789", kBegin.size()), line.size());
    const std::string_view rest = std::string_view(line).substr(end);
    const bool has_words = rest.starts_with(" adapter opened, ") || rest.starts_with(" adapters opened, ");
    if (end > kBegin.size() && has_words) return true;
  }
  return false;
}

// The sentence without what differs from run to run: addresses, ports, processes and times.
std::string without_changes(const std::string& sentence) {
  constexpr const char* kDigits = "0123456789";
  const bool keeps_numbers = sentence.starts_with("dat_");  // of a refused call, they say what was asked for
  std::string text;
  for (std::size_t at = 0; at < sentence.size();) {
    const bool is_address = sentence.compare(at, 2, "0x") == 0;
    const std::size_t begin = is_address ? at + 2 : at;
    const std::size_t end =
        std::min(sentence.find_first_not_of(is_address ? "0123456789abcdef" : kDigits, begin), sentence.size());
    // The line of a place, as in main.c:12, stays.
    const bool is_line =
        at >= 2 && sentence[at - 1] == ':' && std::islower(static_cast<unsigned char>(sentence[at - 2]));
    if (is_address) text += "0x";
    if (!is_address && end > at && (keeps_numbers || is_line)) text += sentence.substr(at, end - at);
    if (end == at) text += sentence[at];
    at = std::max(end, at + 1);
  }
  return text;
}

// The last lines of what was printed, each on a line of its own for the table.
std::string last_lines(const std::string& output) {
  std::vector<std::string> lines;
  std::istringstream stream(output);
  for (std::string line; std::getline(stream, line);) lines.push_back(base::runner_word(line));
  if (lines.size() > kShownLines) lines.erase(lines.begin(), lines.end() - kShownLines);
  std::string text;
  for (const std::string& line : lines) text += "    | " + line + '\n';
  return text;
}

std::string status_text(int status) {
  const char* const name = status > run::kExitSignal ? ::sigabbrev_np(status - run::kExitSignal) : nullptr;
  return name == nullptr ? fmt::format("exit status {}", status) : fmt::format("exit status {} (SIG{})", status, name);
}

// Why the program cannot be compared with itself as on a device.
std::string baseline_failure(int status, double timeout_s) {
  if (status == run::kExitTimedOut) {
    return fmt::format(
        "the program does not end within {:g} seconds (--timeout) without a profile; lint takes one that "
        "ends",
        timeout_s);
  }
  return fmt::format("the program ends with {} without a profile; lint takes one that works", status_text(status));
}

Json to_json(const Trial& trial) {
  Json refusals = Json::array();
  for (const std::string& sentence : trial.sentences) {
    const std::string call = sentence.starts_with("dat_") ? sentence.substr(0, sentence.find_first_of(", ")) : "";
    refusals.push_back({{"call", call.empty() ? Json() : Json(call)}, {"sentence", sentence}});
  }
  return {{"profile", trial.profile},
          {"verdict", name_of(trial.verdict)},
          {"status", trial.status},
          {"refusals", std::move(refusals)},
          {"output", trial.output}};
}

std::string as_table(const std::vector<Trial>& trials) {
  std::size_t width = 12;
  for (const Trial& trial : trials) width = std::max(width, trial.profile.size());
  std::string text;
  for (const Trial& trial : trials) {
    text += fmt::format("{:<{}} {:<8}", trial.profile, width, name_of(trial.verdict));
    if (is_bad(trial.verdict)) text += ' ' + status_text(trial.status);
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
    for (const std::string& sentence : trial.sentences) text += "    " + sentence + '\n';
    if (trial.sentences.empty() && is_bad(trial.verdict)) text += last_lines(trial.output);
  }
  return text;
}

}  // namespace

const char* name_of(Verdict verdict) {
  return kVerdicts[static_cast<std::size_t>(verdict)];
}

LintCommand::LintCommand(CommandLine& line)
    : options_(line.add("lint", "Tell on which RDMA devices a program would not run, and why")) {
  options_.set_footer(
      "Runs the program once as it is, and then once as on each device, without input. Exit status: 1 when it does "
      "not\n"
      "run on some, or opens no adapter, 0 otherwise. A program that is refused something and goes on without it "
      "adapts,\n"
      "which is no failure.");
  options_.add_text("--profiles", "LIST", profiles_,
                    "Names (or @FILE) with commas between; default: all that are built in");
  options_.add_number("-n,--copies", "N", copies_, 1, 1024, "As of softdat run");
  options_.add_text("--server", "COMMAND", server_, "As of softdat run");
  options_.add_word("--transport", {"auto", "shm", "tcp", "loop"}, transport_, "As of softdat run");
  options_.add_texts("--env", "NAME=VALUE", assignments_, "As of softdat run");
  options_.add_number("--timeout", "SECONDS", timeout_s_, 1, 1e6, "A run that takes longer hangs");
  options_.add_text("--json", "FILE", json_, "Write the report as JSON (-: to standard output, and no table)");
  options_.add_program(words_);
}

std::vector<std::string> LintCommand::chosen_profiles() const {
  std::vector<std::string> chosen = split_list(profiles_);
  for (const std::string& name : chosen) check_profile(name);
  if (!chosen.empty()) return chosen;
  for (const auto& known : simnic::model::built_in_profiles()) chosen.emplace_back(known.name);
  return chosen;
}

std::vector<std::string> LintCommand::words_for(const std::string& profile, const std::string& directory) const {
  std::vector<std::string> words{fs::read_symlink("/proc/self/exe").string(),
                                 "run",
                                 "--words",
                                 directory + "/words",
                                 "--timeout",
                                 fmt::format("{}", timeout_s_)};
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  add("--profile", profile);
  // The summary of the run without a profile says whether an adapter was opened.
  if (!profile.empty()) words.emplace_back("--quiet");
  add("--server", server_);
  add("--transport", transport_);
  if (options_.has("--copies")) add("--copies", fmt::format("{}", copies_));
  for (const std::string& assignment : assignments_) add("--env", assignment);
  // Otherwise nothing is said of refused calls.
  add("--env", "SOFTDAT_LOG=notice");
  words.emplace_back("--");
  words.insert(words.end(), words_.begin(), words_.end());
  return words;
}

LintCommand::Run LintCommand::run_once(const std::string& profile, const Place& place) const {
  fs::remove(place.directory + "/words");
  run::KeptOutput output(kKeptOutput);
  const run::ProgramDescriptor nothing("/dev/null", O_RDONLY);
  run::StartPlan plan;
  plan.words = words_for(profile, place.directory);
  run::Environment environment;
  // What the user's own profile says is not to hold for the run without one.
  environment.unset.emplace_back("SOFTDAT_PROFILE");
  plan.environment = environment.merged();
  plan.input = nothing.get();
  plan.output = plan.error = output.descriptor();
  plan.has_own_group = true;
  const pid_t process = run::start(plan);
  output.close();
  const run::End end = run::await_end(process, kForever, place.stop_descriptor);
  if (end != run::End::kEnded) run::stop(process);
  Run result;
  result.status = run::reap(process);
  if (end == run::End::kInterrupted) throw run::Interrupted();
  result.sentences = read_sentences(place.directory + "/words");
  result.output = output.finish();
  if (profile.empty()) result.has_adapter = tells_of_adapter(result.output);
  if (result.output.size() > kMostOutput) result.output.erase(0, result.output.size() - kMostOutput);
  return result;
}

Trial LintCommand::try_profile(const std::string& profile, const Run& baseline, const Place& place) const {
  std::set<std::string> usual;
  for (const std::string& sentence : baseline.sentences) usual.insert(without_changes(sentence));
  Run run = run_once(profile, place);
  // Sentences that come without a profile, too, say nothing of the device.
  std::erase_if(run.sentences, [&](const std::string& s) { return usual.contains(without_changes(s)); });
  Trial trial{.profile = profile, .status = run.status, .sentences = std::move(run.sentences)};
  const bool was_refused = !trial.sentences.empty();
  trial.verdict = was_refused ? Verdict::kAdapts : Verdict::kRuns;
  if (run.status != 0) trial.verdict = was_refused ? Verdict::kRefused : Verdict::kFails;
  if (run.status == run::kExitTimedOut) trial.verdict = Verdict::kHangs;
  if (is_bad(trial.verdict)) trial.output = std::move(run.output);
  return trial;
}

std::vector<Trial> LintCommand::try_all(const std::vector<std::string>& profiles, const Place& place) const {
  const Run baseline = run_once("", place);
  if (baseline.status != 0) {
    const std::string said = baseline.output.empty() ? "" : ":\n" + baseline.output;
    throw Failure(baseline_failure(baseline.status, timeout_s_) + said);
  }
  if (!baseline.has_adapter) {
    throw Failure(
        "the program opened no adapter, so all devices are the same to it; softdat doctor PROGRAM says which DAT "
        "library a program loads");
  }
  std::vector<Trial> trials;
  for (const std::string& profile : profiles) trials.push_back(try_profile(profile, baseline, place));
  return trials;
}

void LintCommand::check() const {
  if (words_.empty()) throw UsageError("softdat lint needs a program, as in: softdat lint -- your-program");
  for (const auto& [name, value] : run::read_assignments(assignments_)) {
    if (name != "SOFTDAT_PROFILE") continue;
    throw UsageError(
        fmt::format("--env \"SOFTDAT_PROFILE={}\" does not go with lint; --profiles names the devices", value));
  }
}

void LintCommand::report(const std::vector<Trial>& trials) const {
  Json json = Json::array();
  for (const Trial& trial : trials) json.push_back(to_json(trial));
  write_output(json_, json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n');
  if (json_ != "-") print_out(as_table(trials));
}

int LintCommand::run() const {
  check();
  const std::vector<std::string> profiles = chosen_profiles();
  if (!json_.empty() && json_ != "-") require_writable(json_);
  const run::EndSignals signals;
  const ScratchDirectory directory("softdat-lint");
  try {
    const std::vector<Trial> trials = try_all(profiles, {directory.path(), signals.descriptor()});
    report(trials);
    return std::ranges::any_of(trials, [](const Trial& trial) { return is_bad(trial.verdict); }) ? kExitFailure : 0;
  } catch (const run::Interrupted&) {
    print_error("interrupted; nothing is reported");
    return signals.exit_status();
  }
}

}  // namespace softdat::tools::profile
