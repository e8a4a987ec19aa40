// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/model/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

namespace softdat::tools::model {
namespace {

// Groups that the summary has room for: those that take the most time.
constexpr std::size_t kMostGroups = 12;
constexpr const char* kKinds[] = {"send", "write", "read", "atomic"};

std::string time_text(double ns) {
  if (ns >= 1e9) return fmt::format("{:.3f} s", ns / 1e9);
  if (ns >= 1e6) return fmt::format("{:.3f} ms", ns / 1e6);
  return fmt::format("{:.2f} us", ns / 1e3);
}

struct Sums {
  std::uint64_t count = 0, completed = 0;
  double arrives = 0, completes = 0, first = 0, last = 0;
};

using Key = std::pair<Operation::Kind, std::uint32_t>;

std::map<Key, Sums> sums_of(const Program& program, const Prediction& prediction) {
  std::map<Key, Sums> sums;
  for (std::size_t i = 0; i < program.operations.size(); ++i) {
    const Times& times = prediction.operations[i];
    if (times.posted < 0 || times.arrived < 0) continue;
    Sums& sum = sums[{program.operations[i].kind, program.operations[i].bytes}];
    if (sum.count++ == 0) sum.first = times.posted;
    sum.first = std::min(sum.first, times.posted);
    sum.last = std::max(sum.last, times.arrived);
    sum.arrives += times.arrived - times.posted;
    if (times.completed < 0) continue;
    ++sum.completed;
    sum.completes += times.completed - times.posted;
  }
  return sums;
}

nlohmann::json three(double low, double typical, double high) {
  return {{"low", low}, {"typical", typical}, {"high", high}};
}

nlohmann::json json_of(const Program& program, const Forecast& forecast) {
  const auto microseconds = [&](auto number) {
    return three(number(forecast.low) / 1e3, number(forecast.typical) / 1e3, number(forecast.high) / 1e3);
  };
  nlohmann::json hosts = nlohmann::json::array();
  for (std::size_t i = 0; i < program.hosts.size(); ++i) {
    const auto part = [&](double HostTime::*field) {
      return microseconds([&](const Prediction& prediction) { return prediction.hosts[i].*field; });
    };
    hosts.push_back({{"process", program.hosts[i]},
                     {"total_us", part(&HostTime::total)},
                     {"computing_us", part(&HostTime::computing)},
                     {"calls_us", part(&HostTime::calls)},
                     {"waiting_us", part(&HostTime::waiting)}});
  }
  nlohmann::json operations = nlohmann::json::array();
  for (const Group& group : groups_of(program, forecast)) {
    operations.push_back({{"operation", kKinds[static_cast<std::size_t>(group.kind)]},
                          {"bytes", group.bytes},
                          {"count", group.count},
                          {"arrives_us", three(group.arrives[0], group.arrives[1], group.arrives[2])},
                          {"completes_us", three(group.completes[0], group.completes[1], group.completes[2])},
                          {"mb_per_s", three(group.rate[0], group.rate[1], group.rate[2])}});
  }
  return {{"network", forecast.network.name},
          {"title", forecast.network.title},
          {"total_us", microseconds([](const Prediction& prediction) { return prediction.total; })},
          {"hosts", std::move(hosts)},
          {"operations", std::move(operations)},
          {"untold_waits", forecast.typical.untold + program.unknown_events}};
}

}  // namespace

Forecast forecast(const Program& program, const simnic::model::Network& network, double compute) {
  const auto run = [&](Bound bound) { return simulate(program, costs_of(network, bound, compute)); };
  return {.network = network, .low = run(Bound::kLow), .typical = run(Bound::kTypical), .high = run(Bound::kHigh)};
}

std::vector<Group> groups_of(const Program& program, const Forecast& forecast) {
  std::map<Key, Group> groups;
  const Prediction* const predictions[] = {&forecast.low, &forecast.typical, &forecast.high};
  for (std::size_t i = 0; i < std::size(predictions); ++i) {
    for (const auto& [key, sum] : sums_of(program, *predictions[i])) {
      Group& group = groups[key];
      group.kind = key.first;
      group.bytes = key.second;
      group.count = sum.count;
      group.arrives[i] = sum.arrives / static_cast<double>(sum.count) / 1e3;
      if (sum.completed > 0) group.completes[i] = sum.completes / static_cast<double>(sum.completed) / 1e3;
      const double bytes = static_cast<double>(key.second) * static_cast<double>(sum.count);
      if (sum.last > sum.first) group.rate[i] = bytes / (sum.last - sum.first) * 1e3;
    }
  }
  std::vector<Group> list;
  for (auto& [key, group] : groups) list.push_back(group);
  return list;
}

std::vector<std::string> as_lines(const Program& program, const Forecast& forecast) {
  std::vector<std::string> lines;
  const auto& typical = forecast.typical;
  lines.push_back(fmt::format("on {} ({}), with {} host{}, this would take {} ({} to {})", forecast.network.name,
                              forecast.network.title, program.hosts.size(), program.hosts.size() == 1 ? "" : "s",
                              time_text(typical.total), time_text(forecast.low.total), time_text(forecast.high.total)));
  for (std::size_t i = 0; i < program.hosts.size() && i < kMostGroups; ++i) {
    const HostTime& host = typical.hosts[i];
    lines.push_back(fmt::format("  {}: {} in all; computing {}, calls {}, waiting {}", program.hosts[i],
                                time_text(host.total), time_text(host.computing), time_text(host.calls),
                                time_text(host.waiting)));
  }
  auto groups = groups_of(program, forecast);
  std::ranges::stable_sort(groups, std::greater<>(),
                           [](const Group& group) { return static_cast<double>(group.count) * group.arrives[1]; });
  if (groups.size() > kMostGroups) groups.resize(kMostGroups);
  for (const Group& group : groups) {
    lines.push_back(fmt::format("  {} of {} bytes, {} times: there after {:.2f} us ({:.2f} to {:.2f}), {:.1f} MB/s",
                                kKinds[static_cast<std::size_t>(group.kind)], group.bytes, group.count,
                                group.arrives[1], group.arrives[0], group.arrives[2], group.rate[1]));
  }
  const std::uint64_t untold = typical.untold + program.unknown_events;
  if (untold > 0) {
    lines.push_back(fmt::format("  {} waits were for what the timeline does not tell; they count no time", untold));
  }
  return lines;
}

std::string as_json(const Program& program, const std::vector<Forecast>& forecasts) {
  nlohmann::json all = nlohmann::json::array();
  for (const Forecast& forecast : forecasts) all.push_back(json_of(program, forecast));
  return all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

}  // namespace softdat::tools::model
