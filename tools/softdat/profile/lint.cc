// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/profile/lint.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "simnic/model/profile_file.h"
#include "tools/softdat/figures.h"
#include "tools/softdat/output.h"
#include "tools/softdat/profile/command.h"
#include "tools/softdat/run/environment.h"
#include "tools/softdat/run/process.h"
#include "tools/softdat/scratch_directory.h"
#include "tools/softdat/words.h"

namespace softdat::tools::profile {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::array<const char*, 5> kVerdicts{"runs", "adapts", "refused", "fails", "hangs"};
constexpr std::size_t kMostOutput = 4000;

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

// The sentence without the addresses that differ from run to run.
std::string without_addresses(const std::string& sentence) {
  std::string result;
  for (std::size_t i = 0; i < sentence.size(); ++i) {
    result += sentence[i];
    if (!result.ends_with("0x")) continue;
    while (i + 1 < sentence.size() && std::isxdigit(static_cast<unsigned char>(sentence[i + 1])) != 0) ++i;
  }
  return result;
}

// A descriptor for a program. Not a base::UniqueFd, which a child of fork() closes.
class ProgramFile {
 public:
  ProgramFile(const std::string& path, int flags) : descriptor_(::open(path.c_str(), flags | O_CLOEXEC, 0600)) {
    if (descriptor_ < 0) throw Failure(fmt::format("cannot open \"{}\": {}", path, std::strerror(errno)));
  }
  ~ProgramFile() { ::close(descriptor_); }
  ProgramFile(const ProgramFile&) = delete;
  ProgramFile& operator=(const ProgramFile&) = delete;
  int get() const { return descriptor_; }

 private:
  const int descriptor_;
};

// Its status, as a shell gives it.
int wait_for(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return run::to_exit_status(status);
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
          {"refusals", std::move(refusals)}};
}

std::string as_table(const std::vector<Trial>& trials) {
  std::size_t width = 12;
  for (const Trial& trial : trials) width = std::max(width, trial.profile.size());
  std::string text;
  for (const Trial& trial : trials) {
    text += fmt::format("{:<{}} {:<8}", trial.profile, width, name_of(trial.verdict));
    if (is_bad(trial.verdict)) text += fmt::format(" exit status {}", trial.status);
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
    for (const std::string& sentence : trial.sentences) text += "    " + sentence + '\n';
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
      "Runs the program once as it is, and then once as on each device. Exit status: 1 when it does not run on some,\n"
      "0 otherwise. A program that is refused something and goes on without it adapts, which is no failure.");
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
                                 "--quiet",
                                 "--words",
                                 directory + "/words",
                                 "--timeout",
                                 fmt::format("{}", timeout_s_)};
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  add("--profile", profile);
  add("--server", server_);
  add("--transport", transport_);
  if (options_.has("--copies")) add("--copies", fmt::format("{}", copies_));
  for (const std::string& assignment : assignments_) add("--env", assignment);
  words.emplace_back("--");
  words.insert(words.end(), words_.begin(), words_.end());
  return words;
}

LintCommand::Run LintCommand::run_once(const std::string& profile, const std::string& directory) const {
  const std::string output = directory + "/output";
  fs::remove(directory + "/words");
  const ProgramFile file(output, O_WRONLY | O_CREAT | O_TRUNC);
  const ProgramFile nothing("/dev/null", O_RDONLY);
  run::StartPlan plan;
  plan.words = words_for(profile, directory);
  run::Environment environment;
  // What the user's own profile says is not to hold for the run without one.
  environment.unset.emplace_back("SOFTDAT_PROFILE");
  plan.environment = environment.merged();
  plan.input = nothing.get();
  plan.output = plan.error = file.get();
  Run result;
  result.status = wait_for(run::start(plan));
  result.sentences = read_sentences(directory + "/words");
  result.output = read_whole(output);
  if (result.output.size() > kMostOutput) result.output.erase(0, result.output.size() - kMostOutput);
  return result;
}

Trial LintCommand::try_profile(const std::string& profile, const Run& baseline, const std::string& directory) const {
  std::set<std::string> usual;
  for (const std::string& sentence : baseline.sentences) usual.insert(without_addresses(sentence));
  Run run = run_once(profile, directory);
  std::erase_if(run.sentences, [&](const std::string& s) { return usual.contains(without_addresses(s)); });
  Trial trial{.profile = profile, .status = run.status, .sentences = std::move(run.sentences)};
  const bool was_refused = !trial.sentences.empty();
  trial.verdict = was_refused ? Verdict::kAdapts : Verdict::kRuns;
  if (run.status != 0) trial.verdict = was_refused ? Verdict::kRefused : Verdict::kFails;
  if (run.status == run::kExitTimedOut) trial.verdict = Verdict::kHangs;
  return trial;
}

int LintCommand::run() const {
  if (words_.empty()) throw UsageError("softdat lint needs a program, as in: softdat lint -- your-program");
  const std::vector<std::string> profiles = chosen_profiles();
  if (!json_.empty() && json_ != "-") require_writable(json_);
  const ScratchDirectory directory("softdat-lint");
  const Run baseline = run_once("", directory.path());
  if (baseline.status != 0) {
    throw Failure(fmt::format("the program ends with status {} without a profile; lint takes one that works:\n{}",
                              baseline.status, baseline.output));
  }
  std::vector<Trial> trials;
  for (const std::string& profile : profiles) {
    trials.push_back(try_profile(profile, baseline, directory.path()));
    const int status = trials.back().status;
    if (status == run::kExitSignal + SIGINT || status == run::kExitSignal + SIGTERM) return status;
  }
  Json json = Json::array();
  for (const Trial& trial : trials) json.push_back(to_json(trial));
  write_output(json_, json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n');
  if (json_ != "-") print_out(as_table(trials));
  return std::ranges::any_of(trials, [](const Trial& trial) { return is_bad(trial.verdict); }) ? kExitFailure : 0;
}

}  // namespace softdat::tools::profile
