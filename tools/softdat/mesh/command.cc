// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/mesh/command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <utility>

#include "tools/softdat/dat_call.h"
#include "tools/softdat/mesh/worker.h"
#include "tools/softdat/output.h"
#include "tools/softdat/perf/machine.h"
#include "tools/softdat/perf/table.h"

namespace softdat::tools::mesh {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string next_line(Child& child) {
  const auto line = child.read_line();
  if (!line) throw Failure("a process could not go on; what it said stands above");
  return *line;
}

// Returns when every process has said that it has done the step.
void await_step(const std::vector<std::unique_ptr<Child>>& children, const char* step) {
  for (const auto& child : children) {
    if (next_line(*child) != step) throw Failure(fmt::format("a process did not say \"{}\"", step));
  }
}

void say_go(const std::vector<std::unique_ptr<Child>>& children) {
  for (const auto& child : children) child->write_line(kGo);
}

// No other mesh of this machine has it.
// The low 16 bits are for the ranks of its processes.
std::uint64_t own_qual() {
  return std::uint64_t{1} << 40 | static_cast<std::uint64_t>(::getpid()) << 16;
}

}  // namespace

Command::Command(CommandLine& line)
    : options_(line.add("mesh", "Connect many processes of this machine, each with all others")) {
  options_.set_footer(
      "Each process registers memory many times, connects with every other, writes into one of its regions and sends\n"
      "to it, and looks at what comes. Then all are idle for a while.");
  options_.add_number("-p,--processes", "N", processes_, 2, 1024, "How many");
  options_.add_number("-r,--registrations", "N", registrations_, 1, 1'000'000, "Registered regions of each process");
  options_.add_number("--idle", "SECONDS", idle_s_, 0, 3600, "For how long all are idle, connected");
  options_.add_text("--ia", "NAME", ia_, "The adapter of all");
  options_.add_word("--transport", {"auto", "shm", "tcp"}, transport_,
                    "What carries it: auto, shm or tcp; else as SOFTDAT_TRANSPORT says");
  options_.add_text("--json", "FILE", json_,
                    "Write the figures to this file, as JSON (-: to standard output, and no table)");
}

Command::Children Command::start() const {
  std::vector<std::pair<std::string, std::string>> environment;
  if (!transport_.empty()) environment.emplace_back("SOFTDAT_TRANSPORT", transport_);
  Children children;
  NodePlan plan{.ia = ia_, .processes = processes_, .registrations = registrations_, .qual = own_qual()};
  for (; plan.rank < processes_; ++plan.rank) {
    children.push_back(std::make_unique<Child>(std::vector<std::string>{"mesh-worker"}, environment));
    children.back()->write_line(encode(plan));
  }
  return children;
}

Figures Command::measure(const Children& children) const {
  await_step(children, "listening");
  // From here to the last "connected"; registering and listening are not in this time.
  auto start = Clock::now();
  say_go(children);
  await_step(children, "connected");
  const double connecting = seconds_since(start);
  start = Clock::now();
  say_go(children);
  await_step(children, "exchanged");
  const double exchanging = seconds_since(start);
  say_go(children);
  await_step(children, "idle");
  start = Clock::now();
  std::this_thread::sleep_for(std::chrono::duration<double>(idle_s_));
  const double idle = seconds_since(start);
  say_go(children);
  // Means of the processes, but for processor time, which is added up.
  NodeReport sum;
  for (const auto& child : children) {
    const NodeReport report = decode_report(next_line(*child));
    sum.us_per_registration += report.us_per_registration / processes_;
    sum.bytes_per_endpoint += report.bytes_per_endpoint / processes_;
    sum.files_per_endpoint += report.files_per_endpoint / processes_;
    sum.idle_cpu_seconds += report.idle_cpu_seconds;
  }
  say_go(children);
  const double connections = 0.5 * processes_ * (processes_ - 1);
  Figures figures{{"processes", processes_},
                  {"connections", connections},
                  {"connections_per_s", connections / connecting},
                  {"exchange_s", exchanging},
                  {"registrations", static_cast<double>(processes_) * registrations_},
                  {"us_per_registration", sum.us_per_registration},
                  {"bytes_per_endpoint", sum.bytes_per_endpoint},
                  {"files_per_endpoint", sum.files_per_endpoint}};
  if (idle_s_ > 0) figures.emplace_back("idle_cpu_percent", 100 * sum.idle_cpu_seconds / idle);
  return figures;
}

void Command::write(const Figures& figures) const {
  if (json_ != "-") {
    for (const auto& [name, value] : figures) print_out(fmt::format("{:<28}{:>12}\n", name, perf::number_text(value)));
  }
  write_output(json_, to_json(figures));
}

int Command::run() const {
  // Each of the others writes into a region of its own.
  if (registrations_ < processes_) {
    throw UsageError(
        fmt::format("--registrations {} is fewer than --processes {}: each process needs a region for every "
                    "other; give {} or more",
                    registrations_, processes_, processes_));
  }
  require_writable(json_);
  perf::raise_file_limit();
  const Children children = start();
  const Figures figures = measure(children);
  for (const auto& child : children) {
    if (child->wait() != 0) throw Failure("a process did not end well; what it said stands above");
  }
  write(figures);
  return 0;
}

}  // namespace softdat::tools::mesh
