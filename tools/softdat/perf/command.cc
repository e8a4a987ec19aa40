// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/perf/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/softdat/address.h"
#include "tools/softdat/figures.h"
#include "tools/softdat/output.h"
#include "tools/softdat/perf/json.h"
#include "tools/softdat/perf/machine.h"
#include "tools/softdat/perf/plot.h"
#include "tools/softdat/perf/sizes.h"
#include "tools/softdat/perf/table.h"
#include "tools/softdat/run/output_files.h"
#include "tools/softdat/words.h"

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
    "  softdat perf --measure rate --operation send --size 8 --threads 2\n"
    "  softdat perf --measure register --operation write --size 1M,4M --fresh-memory\n"
    "  softdat perf --size 1-8M --verify --json result.json --plot result.svg";

// Makes of each word of a list what it names.
template <typename Value, typename Find>
std::vector<Value> parse_words(const std::string& text, const char* what, const std::string& names, Find find) {
  std::vector<Value> values;
  for (const std::string& word : split_list(text)) {
    const auto value = find(lower_case(word));
    if (!value) {
      throw UsageError(fmt::format("--{} \"{}\" is unknown{}; allowed: {}", what, word,
                                   did_you_mean(word, split_list(names)), names));
    }
    values.push_back(*value);
  }
  if (values.empty()) throw UsageError(fmt::format("--{} \"{}\" names none; allowed: {}", what, text, names));
  return values;
}

std::vector<Measure> parse_measures(const std::string& text) {
  return parse_words<Measure>(text, "measure", measure_names(), measure_of);
}
std::vector<Operation> parse_operations(const std::string& text) {
  return parse_words<Operation>(text, "operation", operation_names(), operation_of);
}

std::uint32_t usual_window(Measure measure) {
  switch (measure) {
    case Measure::kRate:
      return 128;
    case Measure::kConnect:
      return 16;
    case Measure::kRegister:
      return 4;
    default:
      return 32;
  }
}

// "42 figures of 0.2 s, about 10 s"
std::string outlook(const RunPlan& plan) {
  constexpr double kWarmUp = 1.1;  // of the duration, with it
  constexpr double kStart = 0.5;   // seconds
  const Case& first = plan.cases.front();
  const std::string count = fmt::format("{} figure{}", plan.cases.size(), plan.cases.size() == 1 ? "" : "s");
  if (first.iterations != 0) return fmt::format("{} of {} messages", count, first.iterations);
  double seconds = kStart;
  for (const Case& what : plan.cases) {
    const bool lasts = has_traffic(what.measure) || what.measure == Measure::kConnect || what.measure == Measure::kIdle;
    if (lasts) seconds += kWarmUp * what.duration_s;
  }
  return fmt::format("{}, about {:.0f} s", count, std::ceil(seconds));
}

// What makes the results worse than the machine.
void warn_of_disturbance(const std::vector<Result>& results, const OtherPrograms& others, std::uint32_t busy) {
  const auto few = std::count_if(results.begin(), results.end(), has_few_rounds);
  if (few != 0) {
    print_warning(
        fmt::format("{} of {} figures rest on fewer than 100 rounds; give a longer --duration, or quiet the machine",
                    few, results.size()));
  }
  if (const std::string text = others.disturbance(busy); !text.empty()) print_warning(text);
}

}  // namespace

Command::Command(CommandLine& line) : options_(line.add("perf", "Measure latency, bandwidth, message rate and more")) {
  options_.set_footer(kFooter);
  add_what();
  add_how();
  add_where();
  add_output();
}

void Command::add_what() {
  options_.set_group("What is measured");
  options_.add_text("-m,--measure", "LIST", measures_, "Of " + measure_names());
  options_.add_text("-o,--operation", "LIST", operations_, "Of " + operation_names());
  options_.add_text("-s,--size", "LIST", sizes_, "Bytes of a message");
  options_.add_number("-d,--duration", "SECONDS", duration_s_, 0.001, 3600, "Seconds of each figure, after warming up");
  options_.add_number("-n,--iterations", "N", iterations_, 1, 200'000'000,
                      "Messages of each figure, instead of --duration");
}

void Command::add_how() {
  options_.set_group("How");
  options_.add_word("--wait", {"poll", "block"}, waiting_,
                    "How completions are awaited: poll (dat_evd_dequeue) or block (dat_evd_wait)");
  options_.add_word(
      "--target", {"poll", "wait", "sleep"}, target_,
      "What the target of one-sided operations does: poll, wait (in dat_evd_wait) or sleep (outside the library)");
  options_.add_number("--window", "N", window_, 1, kMostDepth,
                      "Messages in flight on an endpoint; else 32, for rates 128, connections 16, registrations 4");
  options_.add_number("--signal-every", "N", signal_every_, 1, 65'536,
                      "Only every so many messages one completes; else 1, for rates 16");
  options_.add_number("--pause", "N", pause_us_, 0, kMostPause,
                      "Microseconds that each side of a latency test waits before its turn, outside the figure");
  options_.add_flag("--memory-only", memory_only_,
                    "The side that watches its memory for a write calls nothing meanwhile");
  options_.add_number("--polls-first", "N", polls_first_, 0, kMostFirstPolls,
                      "With --memory-only: polls before the side begins to watch its memory");
  options_.add_number("--event-queues", "N", event_queues_, 1, kMostEventQueues,
                      "The side that watches its memory for a write polls so many queues between two looks at it");
  options_.add_number("--threads", "N", threads_, 1, kMostThreads,
                      "Threads of each side, each with its own endpoints and queues; for bandwidths and rates");
  options_.add_flag("--fresh-memory", fresh_memory_,
                    "With --measure register: no memory is registered twice; else a window of places is used in turns");
  options_.add_flag("--verify", verify_, "Check every byte and the order; figures then include the checking");
  options_.add_number("-e,--endpoints", "N", endpoints_, 1, kMostEndpoints, "Connections of each pair of processes");
  options_.add_number("--active", "N", active_, 1, kMostEndpoints, "Endpoints that carry traffic, in turns; else all");
  options_.add_number("--depth", "N", depth_, 1, kMostDepth, "Length of both queues of an endpoint");
}

void Command::add_where() {
  options_.set_group("Where");
  options_.add_text("--ia", "NAME", ia_, "The adapter of both sides");
  options_.add_word("--transport", {"auto", "shm", "tcp"}, transport_,
                    "What carries it: auto, shm or tcp; else as SOFTDAT_TRANSPORT says");
  options_.add_number("-p,--processes", "N", processes_, 1, 256, "Pairs of processes at the same time");
  options_.add_text("--cpu", "LIST", cpus_,
                    "Processors to pin to, server and client in turns: auto, none, or a list as 0,1 or 0-3");
  options_.add_flag("--server", is_server_,
                    "Be the server of one client started elsewhere (of another host: set SOFTDAT_ADDRESS)");
  options_.add_text("--connect", "HOST", host_, "Be the client of a server on this host");
  options_.add_number("--port", "N", port_, 0, UINT64_MAX, "Where the server listens (a connection qualifier)");
}

void Command::add_output() {
  options_.set_group("Output");
  options_.add_text("--json", "FILE", json_,
                    "Write the results to this file, as JSON (-: to standard output, and no table)");
  options_.add_text("--samples", "FILE", samples_,
                    "Write each latency of one case to this file, in order, in microseconds");
  options_.add_text("--plot", "FILE", plot_, "Draw the results into this SVG file");
}

void Command::check_sides() const {
  if (is_server_ && !host_.empty()) throw UsageError("--server and --connect exclude each other; leave one out");
  if (is_server_) {
    for (const char* name :
         {"--measure",      "--operation", "--size",         "--duration", "--iterations",  "--wait",
          "--target",       "--window",    "--signal-every", "--pause",    "--memory-only", "--polls-first",
          "--event-queues", "--threads",   "--fresh-memory", "--verify",   "--endpoints",   "--active",
          "--depth",        "--json",      "--samples",      "--plot"}) {
      if (options_.has(name)) {
        throw UsageError(fmt::format("{} does not go with --server; give it to the client (--connect)", name));
      }
    }
  }
  if (options_.has("--polls-first") && !memory_only_) {
    throw UsageError("--polls-first goes with --memory-only; add it, or leave --polls-first out");
  }
  if (options_.has("--event-queues") && memory_only_) {
    throw UsageError("--event-queues and --memory-only exclude each other; leave one out");
  }
  if (options_.has("--port") && !is_server_ && host_.empty()) {
    throw UsageError("--port goes with --server or --connect only; leave it out, or give one of them");
  }
}

void Command::check_options() const {
  check_sides();
  if (active_ > endpoints_) {
    throw UsageError(
        fmt::format("--active \"{}\" is more than --endpoints \"{}\"; raise --endpoints", active_, endpoints_));
  }
  if (std::uint64_t{threads_} * endpoints_ > kMostEndpoints) {
    throw UsageError(fmt::format("--threads \"{}\" with --endpoints \"{}\" each make more than {} endpoints; lower one",
                                 threads_, endpoints_, kMostEndpoints));
  }
  if (window_ > depth_) {
    throw UsageError(fmt::format("--window \"{}\" is more than --depth \"{}\"; raise --depth", window_, depth_));
  }
  const std::uint64_t active = active_ != 0 ? active_ : endpoints_;
  if (active * depth_ > kMostCompletions) {
    throw UsageError(
        fmt::format("--depth \"{}\" of {} endpoints needs a queue of {} completions, and {} is the most; lower "
                    "--depth, or give fewer --active",
                    depth_, active, active * depth_, kMostCompletions));
  }
  if (!plot_.empty() && !plot_.ends_with(".svg")) {
    throw UsageError(fmt::format("--plot \"{}\" does not end in .svg; the picture is SVG", plot_));
  }
  if (samples_ == "-")
    throw UsageError("--samples \"-\" is no file; standard output is for the results, so give a name");
  run::require_different({{"--json", json_}, {"--samples", samples_}, {"--plot", plot_}});
  for (const std::string& file : {json_, samples_, plot_}) require_writable(file);
}

int Command::run() const {
  check_options();
  const RunPlan run_plan = plan();
  return is_server_ ? serve(run_plan) : measure(run_plan);
}

int Command::serve(const RunPlan& run_plan) const {
  Pairs pairs(run_plan);
  print_out(fmt::format("{} waits for a client at {}, port {}\n", run_plan.ia, pairs.address(), run_plan.qual));
  if (is_loopback(pairs.address())) {
    print_out(
        "Only this host reaches that address. For clients of other hosts, start both sides with SOFTDAT_ADDRESS set "
        "to\n"
        "an address or interface of their host.\n");
  }
  pairs.wait();
  return 0;
}

int Command::measure(const RunPlan& run_plan) const {
  const bool has_table = json_ != "-";
  const OtherPrograms others;
  Pairs pairs(run_plan);
  std::vector<Result> results;
  Table table;
  if (has_table) print_out(fmt::format("{}: {}\n\n", run_plan.ia, outlook(run_plan)));
  pairs.measure([&](const Result& result) {
    results.push_back(result);
    if (has_table) table.print(result);
  });
  pairs.wait();
  write_files(run_plan, results);
  warn_of_disturbance(results, others, busy_threads(run_plan));
  return 0;
}

// How many of ours poll: the threads of a side that is pinned share a processor.
std::uint32_t Command::busy_threads(const RunPlan& run_plan) const {
  const std::uint32_t sides = run_plan.sides == RunPlan::Sides::kBoth ? 2 * processes_ : processes_;
  return run_plan.cpus.empty() ? sides * threads_ : sides;
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

// Registered memory is written before it is registered, so all of it has to be there.
void Command::require_memory(const Case& what) {
  const std::uint64_t most = physical_memory();
  if (what.size <= most / what.window) return;
  throw UsageError(
      fmt::format("--window \"{}\" of {} each needs more memory than the {} MiB of this machine; lower one",
                  what.window, size_text(what.size), most >> 20));
}

void Command::set_sides(RunPlan& made) const {
  made.sides = is_server_       ? RunPlan::Sides::kServers
               : !host_.empty() ? RunPlan::Sides::kClients
                                : RunPlan::Sides::kBoth;
  made.host = host_;
  made.qual = made.sides == RunPlan::Sides::kBoth ? own_qual() : port_;
}

std::vector<int> Command::processors() const {
  const std::string word = lower_case(cpus_);
  if (word == "none") return {};
  if (word != "auto") return parse_processors(word);
  // Two sides on one processor, or sides in two shells: the system places them better than we would.
  const bool is_whole = !is_server_ && host_.empty();
  const std::vector<int> allowed = allowed_processors();
  return is_whole && allowed.size() > 1 ? allowed : std::vector<int>{};
}

void Command::add_cases(RunPlan& made) const {
  const std::vector<Operation> operations = parse_operations(operations_);
  for (const Measure measure : parse_measures(measures_)) {
    check_measure(measure);
    for (const Case& what : cases_of(measure, operations)) {
      if (measure == Measure::kRegister && !fresh_memory_) require_memory(what);
      made.cases.push_back(what);
    }
  }
  if (made.cases.empty()) {
    const bool is_register = parse_measures(measures_).front() == Measure::kRegister;
    throw UsageError(is_register
                         ? "--measure register writes; add write to --operation"
                         : "--measure completion needs a one-sided operation; add write or read to --operation");
  }
}

void Command::check_measure(Measure measure) const {
  const auto refuse = [&](const char* option) {
    throw UsageError(fmt::format("{} does not go with --measure {}; leave it out", option, to_text(measure)));
  };
  if (measure == Measure::kBidirectional && waiting_ == "block") refuse("--wait \"block\"");
  if (threads_ != 1 && !has_threads(measure)) refuse("--threads");
  if (fresh_memory_ && measure != Measure::kRegister) refuse("--fresh-memory");
  if (measure != Measure::kRegister) return;
  if (verify_) refuse("--verify");
  if (endpoints_ != 1) refuse("--endpoints");
  if (signal_every_ != 0) refuse("--signal-every");
}

void Command::set_samples(RunPlan& made) const {
  made.samples = samples_;
  if (samples_.empty()) return;
  const Measure measure = made.cases.front().measure;
  const bool is_latency = measure == Measure::kLatency || measure == Measure::kCompletion;
  if (made.cases.size() != 1 || !is_latency || processes_ != 1) {
    throw UsageError(
        "--samples needs one --measure (latency or completion), one --operation, one --size and one pair of processes");
  }
}

std::vector<Case> Command::cases_of(Measure measure, const std::vector<Operation>& operations) const {
  Case what = case_of(measure);
  if (!has_traffic(measure)) return {what};
  std::vector<Case> cases;
  for (const Operation operation : operations) {
    const bool is_two_sided = consumes_receive(operation);
    if (measure == Measure::kCompletion && is_two_sided) continue;
    if (measure == Measure::kRegister && operation != Operation::kWrite) continue;
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
  what.duration_s = measure == Measure::kIdle && !options_.has("--duration") ? kIdleSeconds : duration_s_;
  what.window = window_ != 0 ? window_ : std::min(usual_window(measure), depth_);
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
  made.setup.polls_first = polls_first_;
  made.setup.event_queues = event_queues_;
  made.setup.threads = threads_;
  made.setup.fresh_memory = fresh_memory_;
  made.setup.window = 1;
  for (const Case& what : made.cases) {
    made.setup.max_size = std::max(made.setup.max_size, what.size);
    made.setup.window = std::max(made.setup.window, what.window);
  }
}

}  // namespace softdat::tools::perf
