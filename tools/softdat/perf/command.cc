// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/perf/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "tools/softdat/dat_call.h"
#include "tools/softdat/figures.h"
#include "tools/softdat/perf/json.h"
#include "tools/softdat/perf/machine.h"
#include "tools/softdat/perf/plot.h"
#include "tools/softdat/perf/sizes.h"
#include "tools/softdat/perf/table.h"

namespace softdat::tools::perf {
namespace {

constexpr const char* kFooter =
    "Sizes are lists (8,4K,1M) or ranges that double (1-8M). Messages lie in a pool of at least 256 KiB from malloc,\n"
    "as RDMA programs have one; SOFTDAT_LOG=trace tells whether peers reach it directly (SOFTDAT_DIRECT).\n"
    "\n"
    "Without --server and --connect both sides run on this machine, each pinned to a processor of its own.\n"
    "Between two shells or hosts, the client alone says what is measured:\n"
    "  softdat perf --server                      in one\n"
    "  softdat perf --connect HOST --size 1-8M    in the other\n"
    "\n"
    "Examples:\n"
    "  softdat perf --measure latency --size 8 --operation write --transport shm\n"
    "  softdat perf --measure completion --operation read,write --size 8 --target sleep\n"
    "  softdat perf --measure latency --operation send --size 8 --wait block --pause 200\n"
    "  softdat perf --measure rate --operation send --size 8 --endpoints 4096 --active 1\n"
    "  softdat perf --size 1-8M --verify --json result.json --plot result.svg";

// Makes of each word of a list what it names.
template <typename Value, typename Find>
std::vector<Value> parse_words(const std::string& text, const char* what, const std::string& names, Find find) {
  std::vector<Value> values;
  for (const std::string& word : split_list(text)) {
    const auto value = find(word);
    if (!value) throw Failure(fmt::format("\"{}\" is no {}; there are {}", word, what, names));
    values.push_back(*value);
  }
  if (values.empty()) throw Failure(fmt::format("no {} is given; there are {}", what, names));
  return values;
}

std::vector<Measure> parse_measures(const std::string& text) {
  return parse_words<Measure>(text, "measure", measure_names(), measure_of);
}
std::vector<Operation> parse_operations(const std::string& text) {
  return parse_words<Operation>(text, "operation", operation_names(), operation_of);
}

// The limits are told when they are passed, not in the list of options.
CLI::Validator between(double low, double high) {
  return CLI::Range(low, high).description("");
}
CLI::Validator one_of(const std::vector<std::string>& words) {
  return CLI::IsMember(words).description("");
}

}  // namespace

Command::Command(CLI::App& app)
    : app_(app.add_subcommand("perf", "Measure latency, bandwidth, message rate and more")) {
  app_->footer(kFooter);
  add_what();
  add_how();
  add_where();
  add_output();
}

void Command::add_what() {
  const auto add = [this](const char* name, auto& value, const std::string& text) {
    return app_->add_option(name, value, text)->group("What is measured")->type_name("N")->capture_default_str();
  };
  add("-m,--measure", measures_, "Of " + measure_names())->type_name("LIST");
  add("-o,--operation", operations_, "Of " + operation_names())->type_name("LIST");
  add("-s,--size", sizes_, "Bytes of a message")->type_name("LIST");
  add("-d,--duration", duration_s_, "Seconds of each figure, after warming up")
      ->type_name("SECONDS")
      ->check(between(0.001, 3600.0));
  add("-n,--iterations", iterations_, "Messages of each figure, instead of --duration")->default_str("");
}

void Command::add_how() {
  const auto add = [this](const char* name, auto& value, const char* text) {
    return app_->add_option(name, value, text)->group("How")->type_name("N")->capture_default_str();
  };
  add("--wait", waiting_, "How completions are awaited: poll (dat_evd_dequeue) or block (dat_evd_wait)")
      ->type_name("WORD")
      ->check(one_of({"poll", "block"}));
  add("--target", target_,
      "What the target of one-sided operations does: poll, wait (in dat_evd_wait) or sleep (outside the library)")
      ->type_name("WORD")
      ->check(one_of({"poll", "wait", "sleep"}));
  add("--window", window_, "Messages in flight on an endpoint; else 32, for rates 128, connections 16")
      ->default_str("");
  add("--signal-every", signal_every_, "Only every so many messages one completes; else 1, for rates 16")
      ->default_str("");
  add("--pause", pause_us_, "Microseconds that each side of a latency test waits before its turn, outside the figure")
      ->check(between(0, 1'000'000));
  app_->add_flag("--memory-only", memory_only_, "Who watches its memory for a write calls nothing meanwhile")
      ->group("How");
  app_->add_flag("--verify", verify_, "Check every byte and the order; figures then include the checking")
      ->group("How");
  add("-e,--endpoints", endpoints_, "Connections of each pair of processes")->check(between(1, 100'000));
  add("--active", active_, "Endpoints that carry traffic, in turns; else all")->default_str("");
  add("--depth", depth_, "Length of both queues of an endpoint")->check(between(1, 65'536));
}

void Command::add_where() {
  const auto add = [this](const char* name, auto& value, const char* text) {
    return app_->add_option(name, value, text)->group("Where")->type_name("N")->capture_default_str();
  };
  add("--ia", ia_, "The adapter of both sides")->type_name("NAME");
  add("--transport", transport_, "What carries it: auto, shm or tcp; else as SOFTDAT_TRANSPORT says")
      ->type_name("WORD")
      ->check(one_of({"auto", "shm", "tcp"}));
  add("-p,--processes", processes_, "Pairs of processes at the same time")->check(between(1, 256));
  add("--cpu", cpus_, "Processors to pin to, server and client in turns: auto, none, or a list as 0,1 or 0-3")
      ->type_name("LIST");
  app_->add_flag("--server", is_server_, "Be the server of one client that is started elsewhere")->group("Where");
  add("--connect", host_, "Be the client of a server on this host")->type_name("HOST");
  add("--port", port_, "Where the server listens (a connection qualifier)");
}

void Command::add_output() {
  app_->add_option("--json", json_, "Write the results to this file, as JSON (-: to standard output, and no table)")
      ->group("Output")
      ->type_name("FILE");
  app_->add_option("--samples", samples_, "Write each latency of one case to this file, in order, in microseconds")
      ->group("Output")
      ->type_name("FILE");
  app_->add_option("--plot", plot_, "Draw the results into this SVG file")->group("Output")->type_name("FILE");
}

void Command::check_options() const {
  if (is_server_ && !host_.empty()) throw Failure("--server and --connect exclude each other");
  if (is_server_) {
    for (const char* name : {"--measure", "--operation", "--size", "--duration", "--iterations", "--wait", "--target",
                             "--window", "--signal-every", "--pause", "--memory-only", "--verify", "--endpoints",
                             "--active", "--depth", "--json", "--samples", "--plot"}) {
      if (app_->count(name) != 0)
        throw Failure(fmt::format("{} is the client's to say; leave it out beside --server", name));
    }
  }
  if (app_->count("--port") != 0 && !is_server_ && host_.empty()) {
    throw Failure("--port goes with --server or --connect");
  }
  if (active_ > endpoints_) throw Failure(fmt::format("--active {} is more than --endpoints {}", active_, endpoints_));
  if (window_ > depth_) throw Failure(fmt::format("--window {} is more than --depth {}", window_, depth_));
  if (!plot_.empty() && !plot_.ends_with(".svg")) throw Failure("--plot writes SVG; let the file's name end in .svg");
}

int Command::run() const {
  check_options();
  const RunPlan run_plan = plan();
  Pairs pairs(run_plan);
  if (is_server_) {
    fmt::print("{} waits for a client at port {}\n", run_plan.ia, run_plan.qual);
    std::fflush(stdout);
    pairs.wait();
    return 0;
  }
  std::vector<Result> results;
  Table table;
  pairs.measure([&](const Result& result) {
    results.push_back(result);
    if (json_ != "-") table.print(result);
  });
  pairs.wait();
  write_files(run_plan, results);
  return 0;
}

void Command::write_files(const RunPlan& run_plan, const std::vector<Result>& results) const {
  if (!json_.empty()) {
    write_output(json_,
                 report_file(run_plan.setup, run_plan.ia, run_plan.transport, static_cast<int>(processes_), results));
  }
  if (!plot_.empty()) {
    const std::string carrier = run_plan.transport.empty() ? "" : ", " + run_plan.transport;
    write_file(plot_, plot_svg(fmt::format("softdat perf: {}{}", run_plan.ia, carrier), results));
  }
}

RunPlan Command::plan() const {
  RunPlan made;
  made.ia = ia_;
  made.transport = transport_;
  made.processes = processes_;
  set_sides(made);
  made.cpus = processors();
  if (is_server_) return made;
  add_cases(made);
  set_samples(made);
  set_setup(made);
  return made;
}

void Command::set_sides(RunPlan& made) const {
  made.sides = is_server_       ? RunPlan::Sides::kServers
               : !host_.empty() ? RunPlan::Sides::kClients
                                : RunPlan::Sides::kBoth;
  made.host = host_;
  made.qual = made.sides == RunPlan::Sides::kBoth ? own_qual() : port_;
}

std::vector<int> Command::processors() const {
  if (cpus_ == "none") return {};
  if (cpus_ != "auto") return parse_processors(cpus_);
  // Two sides on one processor, or sides in two shells: the system places them better than we would.
  const bool is_whole = !is_server_ && host_.empty();
  const std::vector<int> allowed = allowed_processors();
  return is_whole && allowed.size() > 1 ? allowed : std::vector<int>{};
}

void Command::add_cases(RunPlan& made) const {
  const std::vector<Operation> operations = parse_operations(operations_);
  for (const Measure measure : parse_measures(measures_)) {
    const bool streams = measure == Measure::kBidirectional;
    if (streams && waiting_ == "block") throw Failure("bidirectional is measured polling; leave out --wait block");
    for (const Case& what : cases_of(measure, operations)) made.cases.push_back(what);
  }
  if (made.cases.empty()) throw Failure("completion is measured of one-sided operations, not of send");
}

void Command::set_samples(RunPlan& made) const {
  made.samples = samples_;
  if (samples_.empty()) return;
  const Measure measure = made.cases.front().measure;
  const bool is_latency = measure == Measure::kLatency || measure == Measure::kCompletion;
  if (made.cases.size() != 1 || !is_latency || processes_ != 1) {
    throw Failure("--samples goes with one latency or completion of one operation and size, and one pair of processes");
  }
}

std::vector<Case> Command::cases_of(Measure measure, const std::vector<Operation>& operations) const {
  Case what = case_of(measure);
  if (!has_traffic(measure)) return {what};
  std::vector<Case> cases;
  for (const Operation operation : operations) {
    const bool is_two_sided = consumes_receive(operation);
    if (measure == Measure::kCompletion && is_two_sided) continue;
    what.operation = operation;
    for (const std::uint64_t size : is_atomic(operation) ? std::vector<std::uint64_t>{8} : parse_sizes(sizes_)) {
      what.size = size;
      cases.push_back(what);
    }
  }
  return cases;
}

Case Command::case_of(Measure measure) const {
  constexpr double kIdleSeconds = 3;
  Case what;
  what.measure = measure;
  what.iterations = iterations_;
  what.duration_s = measure == Measure::kIdle && app_->count("--duration") == 0 ? kIdleSeconds : duration_s_;
  const std::uint32_t usual = measure == Measure::kRate ? 128 : measure == Measure::kConnect ? 16 : 32;
  what.window = window_ != 0 ? window_ : std::min(usual, depth_);
  what.signal_every = signal_every_ != 0 ? signal_every_ : measure == Measure::kRate ? 16 : 1;
  return what;
}

void Command::set_setup(RunPlan& made) const {
  made.setup.endpoints = endpoints_;
  made.setup.active = active_ != 0 ? active_ : endpoints_;
  made.setup.depth = depth_;
  made.setup.pause_us = pause_us_;
  made.setup.waiting = waiting_of(waiting_).value();
  made.setup.target = target_of(target_).value();
  made.setup.verify = verify_;
  made.setup.memory_only = memory_only_;
  made.setup.window = 1;
  for (const Case& what : made.cases) {
    made.setup.max_size = std::max(made.setup.max_size, what.size);
    made.setup.window = std::max(made.setup.window, what.window);
  }
}

}  // namespace softdat::tools::perf
