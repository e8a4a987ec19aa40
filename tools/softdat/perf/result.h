// SPDX-License-Identifier: BSD-2-Clause
// What a case brought, of one pair of processes or of several together.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/softdat/perf/plan.h"

namespace softdat::tools::perf {

// Among the figures, the one that is a rate of the whole and not of a pair.
inline constexpr const char* kConnectionRate = "connections_per_s";

struct Result {
  Case what;
  std::uint64_t iterations = 0;
  double seconds = 0;
  // Latencies in microseconds, ascending: entry i is reached by i / (size - 1) of the samples. Empty where the measure
  // has none.
  std::vector<double> quantiles;
  double mean_us = 0;
  double messages_per_s = 0;
  double megabytes_per_s = 0;             // of 10^6 bytes
  std::map<std::string, double> figures;  // what only this measure has, by name
  std::string unavailable;                // why there is nothing else here; empty if there is

  // The latency that `share` (0 to 1) of the samples do not exceed. Requires quantiles.
  double quantile(double share) const;
};

// Takes the samples' quantiles and mean, in units of `unit_us` microseconds. Sorts them.
void summarize(std::vector<std::uint32_t>& samples, double unit_us, Result& result);

// Several pairs that measured the same case at the same time: rates add up, samples are taken together, other figures
// are averaged. Requires at least one.
Result merge(const std::vector<Result>& parts);

}  // namespace softdat::tools::perf
