// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/quickstart.h"

#include <fmt/format.h>

#include <cstdio>

#include "tools/softdat/dat_call.h"
#include "tools/softdat/perf/pairs.h"
#include "tools/softdat/perf/plan.h"
#include "tools/softdat/perf/result.h"
#include "tools/softdat/perf/table.h"

namespace softdat::tools {
namespace {

constexpr std::uint32_t kWindow = 16;
constexpr std::uint64_t kLargest = std::uint64_t{1} << 20;

void print_heading() {
  fmt::print("Two processes, one simulated adapter each (IA \"sim0\"), over shared memory and over TCP:\n\n");
  fmt::print("{:<10} {:<10} {:>8} {:>14} {:>18}\n", "operation", "transport", "size", "latency (us)",
             "bandwidth (MB/s)");
}

void print_row(const char* transport, const perf::Result& latency, const perf::Result& bandwidth, bool plain) {
  const auto operation = perf::to_text(latency.what.operation);
  const double us = latency.quantile(0.5);
  if (plain) {
    fmt::print("{} {} {} {:.3f} {:.6g}\n", transport, operation, latency.what.size, us, bandwidth.megabytes_per_s);
  } else {
    fmt::print("{:<10} {:<10} {:>8} {:>14.2f} {:>18.0f}\n", operation, transport, perf::size_text(latency.what.size),
               us, bandwidth.megabytes_per_s);
  }
  std::fflush(stdout);
}

// Each latency is followed by the bandwidth of the same operation and size.
perf::RunPlan plan_of(const char* transport) {
  perf::RunPlan plan;
  plan.transport = transport;
  plan.qual = perf::own_qual();
  plan.setup.window = kWindow;
  plan.setup.max_size = kLargest;
  for (const perf::Operation operation : {perf::Operation::kSend, perf::Operation::kWrite, perf::Operation::kRead}) {
    for (const std::uint64_t size : {std::uint64_t{8}, std::uint64_t{4096}, std::uint64_t{65536}, kLargest}) {
      for (const perf::Measure measure : {perf::Measure::kLatency, perf::Measure::kBandwidth}) {
        perf::Case what;
        what.measure = measure;
        what.operation = operation;
        what.size = size;
        what.window = kWindow;
        what.duration_s = 0.05;
        plan.cases.push_back(what);
      }
    }
  }
  return plan;
}

void run_pair(const char* transport, bool plain) {
  perf::Pairs pairs(plan_of(transport));
  perf::Result latency;
  pairs.measure([&](const perf::Result& result) {
    if (result.what.measure == perf::Measure::kLatency) {
      latency = result;
    } else {
      print_row(transport, latency, result, plain);
    }
  });
  pairs.wait();
}

void print_next_step() {
  fmt::print(
      "\nTwo processes of this machine did RDMA through the DAT API; no adapter was needed.\n"
      "Latency is half a round trip (of a read: the whole), both sides polling. `softdat perf` measures more.\n\n"
      "Next: run a uDAPL program of your own. With the libraries on the loader's path it needs no\n"
      "configuration; open the IA \"sim0\", or let SoftDAT answer to the name it asks for:\n\n"
      "    LD_LIBRARY_PATH=$PWD/build/quickstart/lib SOFTDAT_ANY_IA=1 ./your-program\n\n"
      "README.md has a 20-line program to begin with.\n");
}

}  // namespace

int run_quickstart(bool plain) {
  if (!plain) print_heading();
  for (const char* transport : {"shm", "tcp"}) {
    try {
      run_pair(transport, plain);
    } catch (const Failure& failure) {
      throw Failure(fmt::format("the two processes could not finish over {}: {}", transport, failure.what()));
    }
  }
  if (!plain) print_next_step();
  return 0;
}

}  // namespace softdat::tools
