// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/mesh/worker.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>

#include <cstdio>
#include <iostream>
#include <sstream>

#include "tools/softdat/dat_call.h"
#include "tools/softdat/perf/machine.h"

namespace softdat::tools::mesh {
namespace {

std::string hear() {
  std::string line;
  if (!std::getline(std::cin, line)) throw Failure("the parent process is gone");
  return line;
}

// Says that a step is done; returns when all have done it.
void meet_others(const char* step) {
  fmt::print("{}\n", step);
  std::fflush(stdout);
  if (hear() != kGo) throw Failure("the parent process did not say go");
}

NodePlan decode_plan(const std::string& line) {
  std::istringstream words(line);
  NodePlan plan;
  words >> plan.ia >> plan.rank >> plan.processes >> plan.registrations >> plan.qual;
  if (!words) throw Failure("no plan came from the parent process");
  return plan;
}

}  // namespace

std::string encode(const NodePlan& plan) {
  return fmt::format("{} {} {} {} {}", plan.ia, plan.rank, plan.processes, plan.registrations, plan.qual);
}

std::string encode(const NodeReport& report) {
  return fmt::format("{} {} {} {}", report.us_per_registration, report.bytes_per_endpoint, report.files_per_endpoint,
                     report.idle_cpu_seconds);
}

NodeReport decode_report(const std::string& line) {
  std::istringstream words(line);
  NodeReport report;
  words >> report.us_per_registration >> report.bytes_per_endpoint >> report.files_per_endpoint >>
      report.idle_cpu_seconds;
  if (!words) throw Failure(fmt::format("a process reported \"{}\"", line));
  return report;
}

int run_worker() {
  // Dies with the parent, whatever it is waiting for.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const NodePlan plan = decode_plan(hear());
  perf::raise_file_limit();
  Node node(plan);
  NodeReport report{.us_per_registration = node.us_per_registration()};
  // The others connect as soon as they go.
  const double bytes = perf::memory_bytes();
  const double files = perf::open_files();
  meet_others("listening");
  node.connect();
  report.bytes_per_endpoint = (perf::memory_bytes() - bytes) / (plan.processes - 1);
  report.files_per_endpoint = (perf::open_files() - files) / (plan.processes - 1);
  meet_others("connected");
  node.exchange();
  meet_others("exchanged");
  const double busy = perf::processor_use().seconds;
  meet_others("idle");
  report.idle_cpu_seconds = perf::processor_use().seconds - busy;
  meet_others(encode(report).c_str());
  return 0;
}

}  // namespace softdat::tools::mesh
