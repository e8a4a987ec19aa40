// SPDX-License-Identifier: BSD-2-Clause
// softdat: the command that a user runs.
#include <exception>

#include "tools/softdat/capture/command.h"
#include "tools/softdat/command_line.h"
#include "tools/softdat/doctor/command.h"
#include "tools/softdat/doctor/worker.h"
#include "tools/softdat/explain.h"
#include "tools/softdat/floor/command.h"
#include "tools/softdat/info.h"
#include "tools/softdat/mesh/command.h"
#include "tools/softdat/mesh/worker.h"
#include "tools/softdat/model/command.h"
#include "tools/softdat/observe/metrics_command.h"
#include "tools/softdat/observe/top_command.h"
#include "tools/softdat/output.h"
#include "tools/softdat/perf/command.h"
#include "tools/softdat/perf/worker.h"
#include "tools/softdat/profile/command.h"
#include "tools/softdat/profile/lint.h"
#include "tools/softdat/quickstart.h"
#include "tools/softdat/registry_library.h"
#include "tools/softdat/run/command.h"
#include "tools/softdat/run/env_command.h"
#include "tools/softdat/run/process.h"
#include "tools/softdat/sweep/command.h"
#include "tools/softdat/timeline/view_command.h"
#include "tools/softdat/timeline/why_slow_command.h"

namespace softdat::tools {
namespace {

int run_chosen(int argc, const char* const* argv) {
  CommandLine line;
  Subcommand quickstart = line.add("quickstart", "Let two processes of this machine do RDMA and show how fast it is");
  QuickstartOutput output;
  quickstart.add_flag("--plain", output.plain, "Only lines of: transport operation bytes microseconds MB/s");
  quickstart.add_text("--json", "FILE", output.json,
                      "Write the rows to this file, as JSON (-: to standard output, and no table)");
  run::Command run_command(line);
  const run::EnvCommand env(line);
  capture::Command capture(line);
  const sweep::Command sweep(line);
  const profile::Command profile(line);
  const profile::LintCommand lint(line);
  const model::Command model(line);
  const timeline::WhySlowCommand why_slow(line);
  const timeline::ViewCommand view(line);
  const doctor::Command doctor(line);
  const perf::Command perf(line);
  const floor::Command floor(line);
  const mesh::Command mesh(line);
  const observe::TopCommand top(line);
  const observe::MetricsCommand metrics(line);
  Subcommand info = line.add("info", "List the adapters that can be opened here");
  InfoOutput listing;
  info.add_flag("--all", listing.all, "List also the adapters that cannot be opened, and why");
  info.add_flag("--json", listing.json, "All of them, as JSON on standard output");
  Subcommand explain = line.add("explain", "Say what a return value, event number or completion status means");
  std::string code;
  explain.add_operand("code", code, "A number, as 0x800a0064 or 16392, or a name, as DAT_DTO_ERR_REMOTE_ACCESS");
  const Subcommand perf_worker = line.add_hidden("perf-worker");
  const Subcommand mesh_worker = line.add_hidden("mesh-worker");
  const Subcommand doctor_worker = line.add_hidden("doctor-worker");
  if (const auto status = line.parse(argc, argv)) return *status;
  if (perf_worker.is_chosen()) return perf::run_worker();
  if (mesh_worker.is_chosen()) return mesh::run_worker();
  if (doctor_worker.is_chosen()) return doctor::run_worker();
  if (explain.is_chosen()) return run_explain(code);
  if (floor.is_chosen()) return floor.run();
  if (run_command.is_chosen()) return run_command.run();
  if (env.is_chosen()) return env.run();
  if (capture.is_chosen()) return capture.run();
  if (sweep.is_chosen()) return sweep.run();
  if (profile.is_chosen()) return profile.run();
  if (lint.is_chosen()) return lint.run();
  if (model.is_chosen()) return model.run();
  if (why_slow.is_chosen()) return why_slow.run();
  if (view.is_chosen()) return view.run();
  if (doctor.is_chosen()) return doctor.run();
  if (top.is_chosen()) return top.run();
  if (metrics.is_chosen()) return metrics.run();
  warn_of_other_registry();
  if (info.is_chosen()) return run_info(listing);
  if (perf.is_chosen()) return perf.run();
  if (mesh.is_chosen()) return mesh.run();
  return run_quickstart(output);
}

}  // namespace
}  // namespace softdat::tools

int main(int argc, char** argv) {
  softdat::tools::run::remember_inherited();
  try {
    return softdat::tools::run_chosen(argc, argv);
  } catch (const softdat::tools::UsageError& error) {
    softdat::tools::print_error(error.what());
    return softdat::tools::kExitUsage;
  } catch (const softdat::tools::OutputClosed&) {
    softdat::tools::die_of_closed_output();
  } catch (const std::exception& failure) {
    softdat::tools::print_error(failure.what());
    return softdat::tools::kExitFailure;
  }
}
