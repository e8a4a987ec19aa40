// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/perf/result.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace softdat::tools::perf {
namespace {

// Fine enough for p99.9.
constexpr std::size_t kQuantiles = 1001;

template <typename Value>
const Value& at_share(const std::vector<Value>& ascending, double share) {
  const double position = std::ceil(share * static_cast<double>(ascending.size() - 1));
  return ascending[std::min(static_cast<std::size_t>(position), ascending.size() - 1)];
}

}  // namespace

double Result::quantile(double share) const {
  return at_share(quantiles, share);
}

void summarize(std::vector<std::uint32_t>& samples, double unit_us, Result& result) {
  if (samples.empty()) return;
  std::sort(samples.begin(), samples.end());
  const double sum = std::accumulate(samples.begin(), samples.end(), 0.0);
  result.mean_us = sum * unit_us / static_cast<double>(samples.size());
  for (std::size_t i = 0; i < kQuantiles; ++i) {
    const double share = static_cast<double>(i) / (kQuantiles - 1);
    result.quantiles.push_back(at_share(samples, share) * unit_us);
  }
}

// Quantiles of equally many samples each, so that they can be put side by side.
Result merge(const std::vector<Result>& parts) {
  Result whole = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const Result& part = parts[i];
    whole.iterations += part.iterations;
    whole.seconds = std::max(whole.seconds, part.seconds);
    whole.quantiles.insert(whole.quantiles.end(), part.quantiles.begin(), part.quantiles.end());
    whole.mean_us += part.mean_us;
    whole.messages_per_s += part.messages_per_s;
    whole.megabytes_per_s += part.megabytes_per_s;
    for (const auto& [name, value] : part.figures) whole.figures[name] += value;
    if (whole.unavailable.empty()) whole.unavailable = part.unavailable;
  }
  const auto count = static_cast<double>(parts.size());
  whole.mean_us /= count;
  for (auto& [name, value] : whole.figures) {
    if (name != kConnectionRate) value /= count;
  }
  std::sort(whole.quantiles.begin(), whole.quantiles.end());
  return whole;
}

}  // namespace softdat::tools::perf
