// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/perf/worker.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>

#include <cstdio>
#include <iostream>
#include <string>

#include "tools/softdat/dat_call.h"
#include "tools/softdat/perf/client.h"
#include "tools/softdat/perf/json.h"
#include "tools/softdat/perf/machine.h"
#include "tools/softdat/perf/server.h"

namespace softdat::tools::perf {
namespace {

void say(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

std::string hear() {
  std::string line;
  if (!std::getline(std::cin, line)) throw Failure("the parent process is gone");
  return line;
}

}  // namespace

// Runs in the process that Pairs starts; speaks to it by lines on standard input and output.
int run_worker() {
  // Nobody else would end us if the tool were killed.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const Job job = decode_job(hear());
  if (job.cpu >= 0) pin_to(job.cpu);
  raise_file_limit();
  if (job.is_server) {
    Server(job).serve([](const std::string& address) { say(fmt::format("{} {}", kListening, address)); });
    return 0;
  }
  Client client(job);
  for (const Case& what : job.cases) {
    say(kReady);
    if (hear() != kGo) throw Failure("the parent process did not say go");
    say(encode(client.measure(what)));
  }
  client.finish();
  return 0;
}

}  // namespace softdat::tools::perf
