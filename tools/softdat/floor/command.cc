// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/floor/command.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/softdat/figures.h"
#include "tools/softdat/floor/memory.h"
#include "tools/softdat/floor/tcp.h"
#include "tools/softdat/output.h"
#include "tools/softdat/perf/machine.h"
#include "tools/softdat/perf/sizes.h"
#include "tools/softdat/perf/table.h"
#include "tools/softdat/words.h"

namespace softdat::tools::floor {
namespace {

constexpr const char* kKinds = "cache-line,memcpy,futex,tcp,connect";

}  // namespace

Command::Command(CommandLine& line)
    : options_(line.add("floor", "Measure what the machine itself can do, for comparison")) {
  options_.set_footer(
      "Two processes, each on a processor of its own, without DAT. One way of a round trip where it is one.");
  options_.add_text("--only", "LIST", only_, "Of these");
  options_.add_text("-s,--size", "LIST", sizes_, "Bytes of a memcpy and of a piece of a stream");
  options_.add_number(
      "--pause", "N", pause_us_, 0, 1'000'000,
      "Microseconds that a side waits before it wakes the other, outside the figure, so that it sleeps");
  options_.add_number("-d,--duration", "SECONDS", duration_s_, 0.001, 3600, "Seconds of each figure");
  options_.add_text("--cpu", "LIST", cpus_, "The two processors: auto, none, or as 0,1");
  options_.add_text("--json", "FILE", json_,
                    "Write the figures to this file, as JSON (-: to standard output, and no table)");
}

Processors Command::processors() const {
  const std::string word = lower_case(cpus_);
  if (word == "none") return {-1, -1};
  if (word != "auto") {
    const std::vector<int> given = perf::parse_processors(cpus_);
    return {given.front(), given.back()};
  }
  const std::vector<int> allowed = perf::allowed_processors();
  return allowed.size() > 1 ? Processors{allowed[0], allowed[1]} : Processors{-1, -1};
}

std::vector<Command::Floor> Command::floors() const {
  const Processors two = processors();
  const double time = duration_s_;
  std::vector<Floor> made{{"cache-line", "cache_line", "us", [=] { return cache_line_us(two, time); }},
                          {"futex", "futex", "us", [=, pause = pause_us_] { return futex_us(two, pause, time); }},
                          {"tcp", "tcp_polling", "us", [=] { return tcp_ping_pong_us(two, 8, true, time); }},
                          {"tcp", "tcp_blocking", "us", [=] { return tcp_ping_pong_us(two, 8, false, time); }},
                          {"connect", "tcp_connect", "1/s", [=] { return tcp_connects_per_s(two, time); }}};
  for (const std::uint64_t size : perf::parse_sizes(sizes_)) {
    made.push_back({"memcpy", fmt::format("memcpy_{}", size), "MB/s", [=] { return memcpy_mb_s(two, size, time); }});
    made.push_back(
        {"tcp", fmt::format("tcp_stream_{}", size), "MB/s", [=] { return tcp_stream_mb_s(two, size, time); }});
  }
  return made;
}

std::vector<std::string> Command::wanted_kinds() const {
  const std::vector<std::string> kinds = split_list(kKinds);
  std::vector<std::string> wanted = split_list(lower_case(only_));
  for (const std::string& word : wanted) {
    if (std::find(kinds.begin(), kinds.end(), word) != kinds.end()) continue;
    throw UsageError(
        fmt::format("--only \"{}\" is not a floor{}; allowed: {}", word, did_you_mean(word, kinds), join(kinds)));
  }
  return wanted;
}

int Command::run() const {
  const std::vector<std::string> wanted = wanted_kinds();
  require_writable(json_);
  Figures figures;
  for (const Floor& floor : floors()) {
    if (std::find(wanted.begin(), wanted.end(), floor.kind) == wanted.end()) continue;
    const double value = floor.measure();
    figures.emplace_back(floor.name, value);
    if (json_ != "-") print_out(fmt::format("{:<24}{:>12} {}\n", floor.name, perf::number_text(value), floor.unit));
  }
  write_output(json_, to_json(figures));
  return 0;
}

}  // namespace softdat::tools::floor
