// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/quickstart.h"

#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tools/softdat/dat_call.h"
#include "tools/softdat/figures.h"
#include "tools/softdat/output.h"
#include "tools/softdat/perf/machine.h"
#include "tools/softdat/perf/pairs.h"
#include "tools/softdat/perf/plan.h"
#include "tools/softdat/perf/result.h"
#include "tools/softdat/perf/table.h"

namespace softdat::tools {
namespace {

constexpr std::uint32_t kWindow = 16;
constexpr std::uint64_t kLargest = std::uint64_t{1} << 20;

struct Measured {
  const char* transport;
  perf::Result latency;
  perf::Result bandwidth;

  double us() const { return latency.quantile(0.5); }
};

void print_heading() {
  print_out(
      fmt::format("Two processes, one simulated adapter each (IA \"sim0\"), over shared memory and over TCP:\n\n"
                  "{:<10} {:<10} {:>8} {:>14} {:>14} {:>18}\n",
                  "operation", "transport", "size", "latency (us)", "messages/s", "bandwidth (MB/s)"));
}

void print_row(const Measured& row) {
  print_out(fmt::format("{:<10} {:<10} {:>8} {:>14.2f} {:>14} {:>18}\n", perf::to_text(row.latency.what.operation),
                        row.transport, perf::size_text(row.latency.what.size), row.us(),
                        perf::number_text(row.bandwidth.messages_per_s),
                        perf::number_text(row.bandwidth.megabytes_per_s)));
}

void print_plain(const Measured& row) {
  print_out(fmt::format("{} {} {} {:.3f} {:.6g}\n", row.transport, perf::to_text(row.latency.what.operation),
                        row.latency.what.size, row.us(), row.bandwidth.megabytes_per_s));
}

std::string json_of(const Measured& row) {
  return fmt::format(
      R"({{"transport": "{}", "operation": "{}", "size": {}, "latency_us": {:.6g}, "messages_per_s": {:.6g}, )"
      R"("megabytes_per_s": {:.6g}}})",
      row.transport, perf::to_text(row.latency.what.operation), row.latency.what.size, row.us(),
      row.bandwidth.messages_per_s, row.bandwidth.megabytes_per_s);
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

void run_pair(const char* transport, const std::function<void(const Measured&)>& on_row) {
  perf::Pairs pairs(plan_of(transport));
  Measured row{transport, {}, {}};
  pairs.measure([&](const perf::Result& result) {
    if (result.what.measure == perf::Measure::kLatency) {
      row.latency = result;
    } else {
      row.bandwidth = result;
      on_row(row);
    }
  });
  pairs.wait();
}

void print_next_step() {
  std::error_code ignored;
  const std::string softdat = std::filesystem::read_symlink("/proc/self/exe", ignored).string();
  print_out(fmt::format(
      "\nTwo processes of this machine did RDMA through the DAT API; no adapter was needed.\n"
      "Latency is half a round trip (of a read: the whole), both sides polling. `softdat perf` measures more.\n\n"
      "Next: run a uDAPL program of your own. It needs no configuration, and whatever adapter it asks\n"
      "for is the simulated one:\n\n"
      "    {} run -- your-program\n\n"
      "README.md has a 20-line program to begin with.\n",
      softdat));
}

void print_disturbance(const perf::OtherPrograms& others) {
  constexpr std::uint32_t kBusy = 2;
  const std::string text = others.disturbance(kBusy);
  if (!text.empty()) print_warning(text);
}

void run_both(const std::function<void(const Measured&)>& on_row) {
  for (const char* transport : {"shm", "tcp"}) {
    try {
      run_pair(transport, on_row);
    } catch (const OutputClosed&) {
      throw;
    } catch (const Failure& failure) {
      throw Failure(fmt::format("the two processes could not finish over {}: {}", transport, failure.what()));
    }
  }
}

}  // namespace

int run_quickstart(const QuickstartOutput& output) {
  require_writable(output.json);
  const bool has_table = !output.plain && output.json != "-";
  const perf::OtherPrograms others;
  if (has_table) print_heading();
  std::vector<std::string> rows;
  run_both([&](const Measured& row) {
    rows.push_back(json_of(row));
    if (has_table) print_row(row);
    if (output.plain) print_plain(row);
  });
  write_output(output.json, fmt::format("[\n  {}\n]\n", fmt::join(rows, ",\n  ")));
  if (has_table) print_next_step();
  print_disturbance(others);
  return 0;
}

}  // namespace softdat::tools
