// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/doctor/command.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>

#include "tools/softdat/doctor/checks.h"
#include "tools/softdat/figures.h"
#include "tools/softdat/output.h"

namespace softdat::tools::doctor {
namespace {

void append(Findings& all, const Findings& more) {
  all.insert(all.end(), more.begin(), more.end());
}

Findings examine(const std::string& program) {
  Findings all;
  if (!program.empty()) append(all, check_program(program));
  for (const auto check : {check_libraries, check_kernel, check_limits, check_shared_memory, check_system_calls,
                           check_container, check_dat_conf, check_adapter, check_devices}) {
    append(all, check());
  }
  return all;
}

std::string json_of(const Finding& finding) {
  return fmt::format(R"({{"level": "{}", "topic": {}, "fact": {}, "advice": {}}})", to_text(finding.level),
                     json_quoted(finding.topic), json_quoted(finding.fact), json_quoted(finding.advice));
}

void print_json(const Findings& findings) {
  std::vector<std::string> texts;
  for (const Finding& finding : findings) texts.push_back(json_of(finding));
  print_out(fmt::format("[\n  {}\n]\n", fmt::join(texts, ",\n  ")));
}

void print_text(const Findings& findings) {
  for (const Finding& finding : findings) {
    print_out(fmt::format("{:<8} {:<14} {}\n", to_text(finding.level), finding.topic, finding.fact));
    if (!finding.advice.empty()) print_out(fmt::format("{:<24}{}\n", "", finding.advice));
  }
}

}  // namespace

Command::Command(CommandLine& line) : options_(line.add("doctor", "Say what on this machine stops DAT programs")) {
  options_.set_footer(
      "A line is \"ok\", a \"note\", a \"warning\" when some programs do not work, or a \"problem\" when none does.\n"
      "Exit status: 0 no problem, 1 a problem.");
  options_.add_flag("--json", is_json_, "The findings, as JSON on standard output");
  options_.add_operand("program", program_, "Say also which DAT library this program loads");
}

int Command::run() const {
  // What "ulimit -f" forbids is an error then, and no signal; also in the children.
  ::signal(SIGXFSZ, SIG_IGN);
  const Findings findings = examine(program_);
  if (is_json_) {
    print_json(findings);
  } else {
    print_text(findings);
  }
  const auto is_problem = [](const Finding& finding) { return finding.level == Level::kProblem; };
  const auto problems = std::count_if(findings.begin(), findings.end(), is_problem);
  if (problems == 0) return 0;
  print_error(fmt::format("{} {} stopping programs", problems, problems == 1 ? "problem is" : "problems are"));
  return kExitFailure;
}

}  // namespace softdat::tools::doctor
