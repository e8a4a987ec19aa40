// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/floor/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "tools/softdat/dat_call.h"
#include "tools/softdat/figures.h"
#include "tools/softdat/floor/memory.h"
#include "tools/softdat/floor/tcp.h"
#include "tools/softdat/perf/machine.h"
#include "tools/softdat/perf/sizes.h"
#include "tools/softdat/perf/table.h"

namespace softdat::tools::floor {
namespace {

constexpr const char* kKinds = "cache-line,memcpy,futex,tcp,connect";

}  // namespace

Command::Command(CLI::App& app)
    : app_(app.add_subcommand("floor", "Measure what the machine itself can do, for comparison")) {
  app_->footer("Two processes, each on a processor of its own, without DAT. One way of a round trip where it is one.");
  app_->add_option("--only", only_, "Of these")->type_name("LIST")->capture_default_str();
  app_->add_option("-s,--size", sizes_, "Bytes of a memcpy and of a piece of a stream")
      ->type_name("LIST")
      ->capture_default_str();
  app_->add_option("--pause", pause_us_,
                   "Microseconds that a side waits before it wakes the other, outside the figure, so that it sleeps")
      ->type_name("N")
      ->capture_default_str();
  app_->add_option("-d,--duration", duration_s_, "Seconds of each figure")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.001, 3600.0).description(""))
      ->capture_default_str();
  app_->add_option("--cpu", cpus_, "The two processors: auto, none, or as 0,1")
      ->type_name("LIST")
      ->capture_default_str();
  app_->add_option("--json", json_, "Write the figures to this file, as JSON (-: to standard output, and no table)")
      ->type_name("FILE");
}

Processors Command::processors() const {
  if (cpus_ == "none") return {-1, -1};
  if (cpus_ != "auto") {
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

int Command::run() const {
  const std::vector<std::string> kinds = perf::split_list(kKinds);
  const std::vector<std::string> wanted = perf::split_list(only_);
  for (const std::string& word : wanted) {
    if (std::find(kinds.begin(), kinds.end(), word) == kinds.end()) {
      throw Failure(fmt::format("\"{}\" is no floor; there are {}", word, kKinds));
    }
  }
  Figures figures;
  for (const Floor& floor : floors()) {
    if (std::find(wanted.begin(), wanted.end(), floor.kind) == wanted.end()) continue;
    const double value = floor.measure();
    figures.emplace_back(floor.name, value);
    if (json_ != "-") fmt::print("{:<24}{:>12} {}\n", floor.name, perf::number_text(value), floor.unit);
    std::fflush(stdout);
  }
  write_output(json_, to_json(figures));
  return 0;
}

}  // namespace softdat::tools::floor
