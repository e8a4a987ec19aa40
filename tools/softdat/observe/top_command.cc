// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/observe/top_command.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>

#include "tools/softdat/dat_call.h"
#include "tools/softdat/observe/json.h"
#include "tools/softdat/observe/screen.h"
#include "tools/softdat/observe/table.h"
#include "tools/softdat/output.h"

namespace softdat::tools::observe {
namespace {

constexpr const char* kTopFooter =
    "Programs that softdat run starts, and programs with SOFTDAT_COUNTERS=on, show their counters to their user.\n"
    "Keys: enter opens a process or an endpoint, escape goes back, < and > choose the column to sort by, r reverses,\n"
    "/ filters, p pauses, q quits.";

constexpr const char* kHowToShow = "start one with softdat run, or with SOFTDAT_COUNTERS=on";

std::size_t column_of(const std::string& name) {
  const std::vector<std::string> names = process_columns();
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

}  // namespace

TopCommand::TopCommand(CommandLine& line)
    : options_(line.add("top", "Show what every adapter of this user is doing now")) {
  options_.set_footer(kTopFooter);
  options_.add_flag("--once", is_once_, "Print the table once, and end");
  options_.add_flag("--json", is_json_, "Print all counters once, as JSON on standard output");
  options_.add_number("--pid", "PID", pid_, 1, 1u << 30, "Only this process: its endpoints");
  options_.add_word("--sort", process_columns(), sort_, "The column of processes to sort by");
  options_.add_flag("--reverse", is_reversed_, "The other way round");
  options_.add_text("--filter", "TEXT", filter_, "Only rows that contain this text");
  options_.add_number("--interval", "SECONDS", interval_s_, 0.1, 3600, "Time between two looks");
}

// Without a time to compare with there are no rates.
void TopCommand::print_once() const {
  const std::vector<Process> processes = Scanner().scan(static_cast<pid_t>(pid_));
  if (is_json_) return print_out(to_json(processes));
  if (processes.empty()) print_warning(fmt::format("no process shows its counters; {}", kHowToShow));
  Table table = pid_ == 0 || processes.empty() ? process_table(processes, {}) : endpoint_table(processes.front(), {});
  if (!filter_.empty()) filter_rows(table, filter_);
  // By itself a number is sorted largest first; process ids read better the other way.
  if (pid_ == 0) sort_rows(table, column_of(sort_), is_reversed_ != (sort_ == "pid"));
  std::string text;
  for (const std::string& each : lines_of(table)) text += each.substr(0, each.find_last_not_of(' ') + 1) + '\n';
  print_out(text);
}

// A screen or a table without the process that was asked for would read as one that does nothing. JSON is for programs,
// which see that the list is empty.
void TopCommand::check_process() const {
  if (pid_ == 0 || is_json_) return;
  const auto pid = static_cast<pid_t>(pid_);
  if (::kill(pid, 0) != 0 && errno == ESRCH) throw Failure(fmt::format("there is no process {}", pid_));
  if (Scanner().scan(pid).empty()) {
    throw Failure(fmt::format("process {} shows no counters to this user; {}", pid_, kHowToShow));
  }
}

int TopCommand::run() const {
  check_process();
  if (is_once_ || is_json_) {
    print_once();
    return 0;
  }
  Scanner scanner;
  run_screen(scanner, {.interval_s = interval_s_,
                       .filter = filter_,
                       .sort_column = column_of(sort_),
                       .is_reversed = is_reversed_ != (sort_ == "pid"),
                       .pid = static_cast<pid_t>(pid_)});
  return 0;
}

}  // namespace softdat::tools::observe
