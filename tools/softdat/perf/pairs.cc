// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/perf/pairs.h"

#include <unistd.h>

#include <utility>

#include "tools/softdat/dat_call.h"
#include "tools/softdat/perf/json.h"
#include "tools/softdat/perf/worker.h"

namespace softdat::tools::perf {
namespace {

// A worker is this program again, with the job as its first line of input (worker.cc).
std::unique_ptr<Child> start(const RunPlan& plan, const Job& job) {
  std::vector<std::pair<std::string, std::string>> environment;
  if (!plan.transport.empty()) environment.emplace_back("SOFTDAT_TRANSPORT", plan.transport);
  auto child = std::make_unique<Child>(std::vector<std::string>{"perf-worker"}, environment);
  child->write_line(encode(job));
  return child;
}

// The next line of a process that has more to say.
std::string next_line(Child& child) {
  const auto line = child.read_line();
  if (!line) throw Failure("a process could not go on; what it said stands above");
  return *line;
}

// What a server says behind kListening.
std::string heard_address(Child& server) {
  const std::string line = next_line(server);
  const std::string listening = std::string(kListening) + " ";
  if (!line.starts_with(listening)) throw Failure("unexpected output of a process: " + line.substr(0, 80));
  return line.substr(listening.size());
}

void expect_line(Child& child, const char* expected) {
  if (const std::string line = next_line(child); line != expected) {
    throw Failure("unexpected output of a process: " + line.substr(0, 80));
  }
}

}  // namespace

std::uint64_t own_qual() {
  constexpr std::uint64_t kFirst = 0x50F7'0000'0000;
  // Processes of one run take the numbers that follow.
  constexpr std::uint64_t kRoom = 1024;
  return kFirst + static_cast<std::uint64_t>(::getpid()) * kRoom;
}

// Servers first: start_servers() waits until each one listens.
Pairs::Pairs(const RunPlan& plan) : plan_(plan) {
  if (plan_.sides != RunPlan::Sides::kClients) start_servers();
  if (plan_.sides != RunPlan::Sides::kServers) start_clients();
}

Job Pairs::job_of(std::uint32_t index, bool is_server) const {
  Job job;
  job.is_server = is_server;
  job.ia = plan_.ia;
  job.host = plan_.host;
  job.qual = plan_.qual + index;
  job.setup = plan_.setup;
  job.samples = plan_.samples;
  job.cases = is_server ? std::vector<Case>{} : plan_.cases;
  const bool takes_turns = plan_.sides == RunPlan::Sides::kBoth;
  const std::size_t place = takes_turns ? 2 * index + (is_server ? 0 : 1) : index;
  if (!plan_.cpus.empty()) job.cpu = plan_.cpus[place % plan_.cpus.size()];
  return job;
}

void Pairs::start_servers() {
  for (std::uint32_t i = 0; i < plan_.processes; ++i) {
    servers_.push_back(start(plan_, job_of(i, true)));
  }
  for (const auto& server : servers_) address_ = heard_address(*server);
}

void Pairs::start_clients() {
  for (std::uint32_t i = 0; i < plan_.processes; ++i) {
    clients_.push_back(start(plan_, job_of(i, false)));
  }
}

// All pairs are ready before any goes, so that they measure at the same time.
void Pairs::measure(const std::function<void(const Result&)>& on_result) {
  for (std::size_t i = 0; i < plan_.cases.size(); ++i) {
    for (const auto& client : clients_) expect_line(*client, kReady);
    for (const auto& client : clients_) client->write_line(kGo);
    std::vector<Result> parts;
    for (const auto& client : clients_) parts.push_back(decode_result(next_line(*client)));
    on_result(merge(parts));
  }
}

void Pairs::wait() {
  bool is_well = true;
  for (auto* const children : {&clients_, &servers_}) {
    for (const auto& child : *children) is_well &= child->wait() == 0;
  }
  if (!is_well) throw Failure("a process did not end well; what it said stands above");
}

}  // namespace softdat::tools::perf
