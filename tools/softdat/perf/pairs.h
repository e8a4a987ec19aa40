// SPDX-License-Identifier: BSD-2-Clause
// The worker processes of one run: pairs of a server and a client, or one kind only when the other is started in
// another shell.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tools/softdat/child.h"
#include "tools/softdat/perf/plan.h"
#include "tools/softdat/perf/result.h"

namespace softdat::tools::perf {

struct RunPlan {
  enum class Sides : std::uint8_t { kBoth, kServers, kClients };
  Sides sides = Sides::kBoth;
  std::string ia = "sim0";
  std::string transport;   // empty: as the environment says
  std::string host;        // kClients: where the servers are
  std::uint64_t qual = 0;  // of the first server; the others follow
  std::uint32_t processes = 1;
  std::vector<int> cpus;  // in turns: server, client, server, ... ; empty: not pinned
  Setup setup;
  std::vector<Case> cases;
  std::string samples;  // where the client's latencies go, one by one; empty: nowhere
};

class Pairs {
 public:
  // Starts the processes; the servers listen when it returns.
  explicit Pairs(const RunPlan& plan);

  // The IP address that the servers listen at, as text; empty without servers.
  const std::string& address() const { return address_; }

  // Measures case by case, all pairs at the same time. `on_result` hears each.
  void measure(const std::function<void(const Result&)>& on_result);
  // Waits until the processes have ended. Failure if one did not end well.
  void wait();

 private:
  void start_servers();
  void start_clients();
  Job job_of(std::uint32_t index, bool is_server) const;

  const RunPlan plan_;
  std::string address_;
  std::vector<std::unique_ptr<Child>> servers_;
  std::vector<std::unique_ptr<Child>> clients_;
};

// A qual that no other run on this machine uses.
std::uint64_t own_qual();

}  // namespace softdat::tools::perf
