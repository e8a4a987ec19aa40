// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/perf/table.h"

#include <fmt/format.h>

#include "tools/softdat/output.h"

namespace softdat::tools::perf {
namespace {

bool has_samples(Measure measure) {
  return measure == Measure::kLatency || measure == Measure::kCompletion;
}

const char* title_of(Measure measure) {
  switch (measure) {
    case Measure::kLatency:
      return "latency, us: half a round trip; of reads and atomics, until the answer is here";
    case Measure::kCompletion:
      return "completion, us: from the post to the completion, one at a time";
    case Measure::kBandwidth:
      return "bandwidth, one way";
    case Measure::kRate:
      return "message rate, one way, few completions";
    case Measure::kBidirectional:
      return "bandwidth, both ways together";
    case Measure::kRegister:
      return "writes, each registered and freed again";
    case Measure::kConnect:
      return "connections set up and torn down";
    case Measure::kMemory:
      return "memory of connected endpoints";
    case Measure::kIdle:
      return "both processes connected and idle";
    case Measure::kOpen:
      return "dat_ia_open";
    case Measure::kPoll:
      return "dat_evd_dequeue of an empty queue";
  }
  return "?";
}

}  // namespace

std::string size_text(std::uint64_t bytes) {
  constexpr std::uint64_t kKibi = 1024;
  if (bytes >= kKibi * kKibi && bytes % (kKibi * kKibi) == 0) return fmt::format("{} MiB", bytes / kKibi / kKibi);
  if (bytes >= kKibi && bytes % kKibi == 0) return fmt::format("{} KiB", bytes / kKibi);
  return fmt::format("{} B", bytes);
}

std::string number_text(double value) {
  if (value >= 1000) return fmt::format("{:.0f}", value);
  if (value >= 100) return fmt::format("{:.1f}", value);
  return value >= 10 ? fmt::format("{:.2f}", value) : fmt::format("{:.3f}", value);
}

bool has_few_rounds(const Result& result) {
  constexpr std::uint64_t kFew = 100;
  // A user who asks for so few rounds knows it.
  return has_traffic(result.what.measure) && result.unavailable.empty() && result.what.iterations == 0 &&
         result.iterations < kFew;
}

void Table::print_heading(Measure measure) {
  std::string text = fmt::format("{}{}\n", has_heading_ ? "\n" : "", title_of(measure));
  has_heading_ = true;
  heading_ = measure;
  if (has_samples(measure)) {
    text += fmt::format("{:<16}{:>9}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}\n", "operation", "size", "min", "median",
                        "mean", "p99", "p99.9", "max", "rounds");
  } else if (has_traffic(measure)) {
    text += fmt::format("{:<16}{:>9}{:>10}{:>14}{:>14}{:>12}\n", "operation", "size", "window", "MB/s", "messages/s",
                        "messages");
  }
  print_out(text);
}

std::string Table::figures_of(const Result& result) {
  const Measure measure = result.what.measure;
  if (!result.unavailable.empty()) return "  n/a: " + result.unavailable;
  if (has_samples(measure)) {
    return fmt::format("{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}", number_text(result.quantile(0)),
                       number_text(result.quantile(0.5)), number_text(result.mean_us),
                       number_text(result.quantile(0.99)), number_text(result.quantile(0.999)),
                       number_text(result.quantile(1)), result.iterations);
  }
  return fmt::format("{:>10}{:>14}{:>14}{:>12}", result.what.window, number_text(result.megabytes_per_s),
                     number_text(result.messages_per_s), result.iterations);
}

void Table::print(const Result& result) {
  const Measure measure = result.what.measure;
  if (!has_heading_ || heading_ != measure) print_heading(measure);
  if (has_traffic(measure) || !result.unavailable.empty()) {
    const char* const mark = has_few_rounds(result) ? "  few" : "";
    print_out(fmt::format("{:<16}{:>9}{}{}\n", to_text(result.what.operation), size_text(result.what.size),
                          figures_of(result), mark));
  }
  for (const auto& [name, value] : result.figures) print_out(fmt::format("{:<28}{:>12}\n", name, number_text(value)));
}

}  // namespace softdat::tools::perf
