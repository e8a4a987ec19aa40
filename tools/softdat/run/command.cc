// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/run/command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tools/softdat/figures.h"
#include "tools/softdat/output.h"
#include "tools/softdat/profile/command.h"
#include "tools/softdat/run/output_files.h"
#include "tools/softdat/run/process.h"
#include "tools/softdat/run/program_file.h"

namespace softdat::tools::run {
namespace {

// For the names of copies, in turns: cyan, yellow, magenta, green, blue, red.
constexpr const char* kColors[] = {"36", "33", "35", "32", "34", "31"};

constexpr const char* kFooter =
    "The program takes SoftDAT's libraries, whichever it was built for, and every adapter name opens the simulator.\n"
    "--env LD_LIBRARY_PATH=DIRECTORY and --env DAT_OVERRIDE=FILE count too.\n"
    "Exit status: the program's; 128 and the signal's number when a signal ended it; 127 when there is no such "
    "program,\n"
    "126 when it cannot be run, 124 when --timeout stopped it. Of several, that of the first that failed.\n"
    "With --error-exitcode that one, if the sanitizer finds an error.";

}  // namespace

Command::Command(CommandLine& line) : options_(line.add("run", "Run a program on the simulated adapter")) {
  options_.set_footer(kFooter);
  options_.add_number("-n,--copies", "N", copies_, 1, 1024, "Run so many copies, whose lines begin with [0], [1] ...");
  options_.add_text("--server", "COMMAND", server_, "Run this shell command first; PROGRAM starts when it listens");
  options_.add_number("--hosts", "N", hosts_, 0, 250, "Put the copies onto so many hosts with addresses of their own");
  options_.add_number("--timeout", "SECONDS", timeout_s_, 0, 1e6, "Stop all after that time");
  options_.add_number("--listen-within", "SECONDS", listen_within_s_, 0, 1e6, "Give the server that time to listen");
  options_.add_number("--grace", "SECONDS", grace_s_, 0, 1e6,
                      "Time from SIGTERM to SIGKILL, and for a server to end after its clients");
  options_.add_flag("-q,--quiet", is_quiet_, "No summary");
  options_.add_flag("--no-counters", has_no_counters_, "Do not show the program's counters to softdat top and metrics");
  environment_.add_to(options_);
  options_.add_text("--profile", "NAME", profile_,
                    "Simulate this device (softdat profile list), or that of @FILE, as SOFTDAT_PROFILE");
  options_.add_text("--words", "FILE", words_file_, "Write what is said of refused calls and failures as JSON");
  options_.set_group("Sanitizer");
  options_.add_optional_word("--sanitize", {"on", "full"}, "on", sanitize_,
                             "Tell which rules of DAT the program breaks; =full: also advice");
  options_.add_number("--error-exitcode", "N", error_exitcode_, 1, 255,
                      "Exit status when the sanitizer finds an error");
  options_.add_text("--suppressions", "FILE", suppressions_, "Findings that are not to be told");
  options_.add_text("--findings", "FILE", findings_file_, "Write what the sanitizer finds as JSON");
  faults_.add_to(options_);
  options_.add_number("--nasty", "SEED", nasty_, 1, 4294967295,
                      "Do all that DAT allows and friendly adapters do not do, chosen by this seed");
  capture_.add_to(options_);
  timeline_.add_to(options_);
  model_.add_to(options_);
  options_.add_program(words_);
}

// Without -n, every host has one copy.
std::size_t Command::clients() const {
  if (hosts_ == 0 || options_.has("--copies")) return copies_;
  return std::max<std::size_t>(hosts_ - servers(), 1);
}

bool Command::is_gathered() const {
  return copies_ > 1 || hosts_ > 0 || !server_.empty();
}

// Alone it stays in our group: a terminal, mpirun and srun then reach it as they would without us.
bool Command::has_own_groups() const {
  return is_gathered() || (timeout_s_ > 0 && ::isatty(STDIN_FILENO) == 0);
}

// Two pipes for the output of each copy, a network of each host, and what is open anyway.
void Command::provide_descriptors() const {
  constexpr std::uint64_t kOthers = 32;
  if (!is_gathered()) return;
  const std::uint64_t copies = servers() + clients();
  const std::uint64_t needed = 2 * copies + hosts_ + kOthers;
  if (allow_descriptors(needed)) return;
  throw Failure(fmt::format(
      "{} programs need {} open files, and the hard limit is lower; raise it (ulimit -Hn {}), or start fewer", copies,
      needed, needed));
}

void Command::check() const {
  if (words_.empty()) throw UsageError("softdat run needs a program, as in: softdat run -- dtest -P sim0");
  static_cast<void>(environment_.variables());
  if (hosts_ > 0 && !environment_.address.empty()) {
    throw UsageError("--address does not go with --hosts, which gives each host an address");
  }
  check_outputs();
  check_sanitizer();
  if (options_.has("--profile")) profile::check_profile(profile_);
  capture_.check(options_, make_environment(environment_));
  timeline_.check(options_, make_environment(environment_));
  model_.check(options_, make_environment(environment_));
  if (server_.empty() && options_.has("--listen-within")) throw UsageError("--listen-within goes with --server");
}

void Command::check_outputs() const {
  const OutputFile faults_log{"--faults-log", faults_.log}, capture{"--capture", capture_.file},
      timeline{"--timeline", timeline_.file};
  require_files({faults_log, capture, timeline});
  require_different({{"--words", words_file_},
                     {"--findings", findings_file_},
                     faults_log,
                     capture,
                     timeline,
                     {"--model-json", model_.json}});
  for (const std::string& file : {words_file_, findings_file_}) require_writable(file);
}

// Refuses files that cannot be used before the program starts.
void Command::check_sanitizer() const {
  if (std::filesystem::is_directory(suppressions_)) {
    throw UsageError(fmt::format("--suppressions \"{}\" is a directory; give a file", suppressions_));
  }
  if (!suppressions_.empty() && !std::ifstream(suppressions_)) {
    throw UsageError(fmt::format("--suppressions \"{}\" cannot be read: {}", suppressions_, std::strerror(errno)));
  }
  if (!sanitize_.empty()) return;
  for (const char* const option : {"--error-exitcode", "--suppressions", "--findings"}) {
    if (options_.has(option)) throw UsageError(fmt::format("{} goes with --sanitize", option));
  }
}

// What is asked for by options, as far as the programs are not looked at.
Environment Command::known_environment() const {
  Environment result = make_environment(environment_);
  if (nasty_ != 0) result.put("SOFTDAT_NASTY", fmt::format("{}", nasty_));
  return result;
}

// What keeps a program from SoftDAT's libraries whatever the environment says.
void Command::warn_of(const std::string& word) const {
  const auto path = find_program(word);
  if (!path) return;
  const ProgramFile program = inspect_program(*path);
  if (program.is_privileged) {
    print_warning(
        fmt::format("\"{}\" changes its user or has capabilities: the loader ignores LD_LIBRARY_PATH, and it "
                    "does not run on SoftDAT; run a copy without these rights",
                    *path));
  }
  if (program.is_foreign) {
    print_warning(fmt::format("\"{}\" is built for another kind of machine than SoftDAT's libraries", *path));
  }
}

// A program may change its directory before it opens an adapter.
void Command::put_profile(Environment& environment) const {
  if (profile_.empty()) return;
  const bool is_file = profile_.starts_with('@');
  environment.put("SOFTDAT_PROFILE", is_file ? '@' + std::filesystem::absolute(profile_.substr(1)).string() : profile_);
}

Environment Command::environment(const std::string& socket) const {
  Environment result = known_environment();
  // Without it SoftDAT's libraries have nothing to tell, and note nothing.
  const bool is_heard = !is_quiet_ || !words_file_.empty() || !server_.empty() || !sanitize_.empty();
  if (is_heard) result.put("SOFTDAT_RUN_SOCKET", socket);
  if (has_no_counters_) {
    result.put("SOFTDAT_COUNTERS", "off");
  } else if (result.value_of("SOFTDAT_COUNTERS").empty()) {
    result.put("SOFTDAT_COUNTERS", "on");
  }
  if (!sanitize_.empty()) result.put("SOFTDAT_SANITIZE", sanitize_);
  put_profile(result);
  // A program may change its directory before it reads the file.
  if (!suppressions_.empty()) {
    result.put("SOFTDAT_SANITIZE_SUPPRESSIONS", std::filesystem::absolute(suppressions_).string());
  }
  const std::string directory = library_directory();
  std::string preloaded = result.value_of("LD_PRELOAD");
  const auto path = find_program(words_.front());
  const ProgramFile program = path ? inspect_program(*path) : ProgramFile{};
  // A directory in DT_RPATH comes before LD_LIBRARY_PATH; what is loaded already comes before both.
  if (!program.rpath.empty()) {
    for (const std::string& library : dat_libraries(program)) {
      const std::string ours = directory + '/' + library.substr(library.rfind('/') + 1);
      if (::access(ours.c_str(), R_OK) == 0) preloaded = put_first(ours, preloaded, ':');
    }
  }
  if (is_gathered()) {
    const std::string helper = directory + "/libsoftdat_run.so";
    if (::access(helper.c_str(), R_OK) == 0) preloaded = put_first(helper, preloaded, ':');
  }
  if (preloaded.empty()) return result;
  result.put("LD_PRELOAD", preloaded);
  // AddressSanitizer wants to be the first library of a program, but has no need to.
  result.put("ASAN_OPTIONS", put_first("verify_asan_link_order=0", result.value_of("ASAN_OPTIONS"), ':'));
  return result;
}

// The server is the first, and its host the first.
CopyPlan Command::plan_copy(const Environment& environment, const std::vector<Host>& hosts, std::size_t index) const {
  const bool is_server = index < servers();
  const std::size_t number = index - (is_server ? 0 : servers());
  CopyPlan copy;
  copy.is_server = is_server;
  copy.words = is_server ? std::vector<std::string>{"/bin/sh", "-c", server_} : words_;
  copy.name = is_server ? "server" : servers() > 0 && clients() == 1 ? "client" : fmt::format("{}", number);
  if (!is_gathered()) copy.name = words_.front().substr(words_.front().rfind('/') + 1);
  copy.color = kColors[index % std::size(kColors)];
  copy.is_gathered = is_gathered();
  copy.takes_input = index == servers();
  copy.has_own_group = has_own_groups();
  Environment own = environment;
  // The first copy tells of mistakes in the environment; the others would tell of the same.
  if (index > 0) own.put("SOFTDAT_RUN_TOLD", "1");
  if (is_gathered()) {
    own.put("SOFTDAT_RUN_COPY", is_server ? "server" : fmt::format("{}", number));
    own.put("SOFTDAT_RUN_COPIES", fmt::format("{}", clients()));
  }
  // Copies take the hosts in turns.
  if (!hosts.empty()) {
    const Host& host = hosts[index % hosts.size()];
    copy.network = host.network;
    own.put("SOFTDAT_ADDRESS", host.address);
    std::string addresses;
    for (const Host& each : hosts) addresses += (addresses.empty() ? "" : ",") + each.address;
    own.put("SOFTDAT_RUN_HOSTS", addresses);
  }
  copy.environment = own.merged();
  return copy;
}

JobPlan Command::plan(const Environment& environment, const std::vector<Host>& hosts) const {
  JobPlan plan;
  for (std::size_t i = 0; i < servers() + clients(); ++i) plan.copies.push_back(plan_copy(environment, hosts, i));
  plan.timeout = std::chrono::duration<double>(timeout_s_);
  plan.listen_within = std::chrono::duration<double>(listen_within_s_);
  plan.grace = std::chrono::duration<double>(grace_s_);
  return plan;
}

int Command::finish(int status, const Findings& findings, const Said& said) const {
  if (!words_file_.empty()) said.write_json(words_file_);
  if (!findings_file_.empty()) findings.write_json(findings_file_);
  return error_exitcode_ != 0 && findings.has_errors() ? static_cast<int>(error_exitcode_) : status;
}

// A plan that does nothing is most often a mistake.
void Command::tell_of(Faults& faults, const Summary& summary) const {
  const std::size_t fired = faults.finish();
  if (faults.has_no_plan()) return;
  if (fired > 0) return summary.note(fmt::format("{} {} fired", fired, fired == 1 ? "fault" : "faults"));
  summary.note("no fault of the plan fired; --fault note --faults-log FILE lists where faults may fire");
}

// The timeline may be there for the prediction alone.
void Command::tell_of(Timeline& timeline, const Model& model, const Summary& summary) const {
  if (timeline.is_empty()) return;
  const std::string text = timeline.finish();
  if (!timeline_.file.empty()) summary.note(text);
  if (model.is_empty()) return;
  for (const std::string& line : model.finish()) summary.note(line);
}

int Command::run() {
  check();
  provide_descriptors();
  warn_of(words_.front());
  // A file of the plan may be a FIFO, for which open(2) waits, and nobody heeds signals then.
  Faults faults(faults_, known_environment());
  // Before anything is made that a signal's default action would leave behind. Programs in groups of their own do not
  // get the terminal's stop.
  const int signals = block_signals(has_own_groups());
  // Its path goes to the programs, so it listens before any begins.
  ReportSocket reports;
  Environment whole = environment(reports.path());
  if (!faults.is_empty()) faults.put_into(whole);
  Capture capture(capture_);
  capture.put_into(whole);
  TimelineOptions timeline_options = timeline_;
  // Before the timeline: without --timeline it has that written into a file of its own, which is named here.
  const Model model(model_, timeline_options);
  model.put_into(whole);
  Timeline timeline(timeline_options);
  timeline.put_into(whole);
  // This process moves into namespaces of its own here; each copy then enters that of its host.
  const std::vector<Host> hosts = hosts_ > 0 ? make_hosts(hosts_) : std::vector<Host>{};
  const JobPlan job_plan = plan(whole, hosts);
  Summary summary(is_quiet_);
  Findings findings;
  Said said;
  Job job(job_plan, signals, reports, summary, findings, said);
  int status = 0;
  try {
    status = job.run();
  } catch (const StartFailure& failure) {
    give_back_signals(signals);
    job.finish_output();
    print_error(failure.what());
    return failure.status();
  } catch (...) {
    give_back_signals(signals);
    throw;
  }
  if (!faults.is_empty()) faults.write_log_at_once();
  // What is left may take minutes, or for ever where nobody reads. A signal ends it, and the parts of captures and
  // timelines stay.
  give_back_signals(signals);
  job.finish_output();
  summary.print();
  // After the programs' end, when all of their parts are there.
  if (!faults.is_empty()) tell_of(faults, summary);
  if (!capture.is_empty()) summary.note(capture.finish());
  tell_of(timeline, model, summary);
  return finish(status, findings, said);
}

}  // namespace softdat::tools::run
