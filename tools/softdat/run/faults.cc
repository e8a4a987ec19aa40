// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/run/faults.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/fault_plan_file.h"
#include "tools/softdat/run/toml_plan.h"

namespace softdat::tools::run {
namespace {

namespace fs = std::filesystem;

// A longer plan goes by a file: the kernel limits a variable to 128 KiB.
constexpr std::size_t kMostText = std::size_t{16} << 10;

std::string read_file(const std::string& path) {
  auto text = base::read_plan_file(path);
  if (!text.ok()) throw UsageError(fmt::format("--faults \"{}\" cannot be read: {}", path, text.reason()));
  return std::move(text).value();
}

// What the user named the plan by.
std::string name_of(const FaultOptions& options) {
  std::string name = options.file.empty() ? "" : fmt::format("--faults \"{}\"", options.file);
  if (!options.statements.empty()) name += name.empty() ? "--fault" : " and --fault";
  return name;
}

bool is_digit(char letter) {
  return std::isdigit(static_cast<unsigned char>(letter)) != 0;
}

// Digits compare as one number: by their count first, since our numbers have no leading zeros.
bool is_before(std::string_view a, std::string_view b) {
  std::size_t i = 0;
  while (i < a.size() && i < b.size()) {
    if (is_digit(a[i]) && is_digit(b[i])) {
      std::size_t end_a = i, end_b = i;
      while (end_a < a.size() && is_digit(a[end_a])) ++end_a;
      while (end_b < b.size() && is_digit(b[end_b])) ++end_b;
      if (end_a != end_b) return end_a < end_b;
      const int order = a.substr(i, end_a - i).compare(b.substr(i, end_b - i));
      if (order != 0) return order < 0;
      i = end_a;
    } else if (a[i] != b[i]) {
      return a[i] < b[i];
    } else {
      ++i;
    }
  }
  return a.size() < b.size();
}

// The line behind the name of its fault.
std::string_view place_of(const std::string& line) {
  return std::string_view(line).substr(std::min(line.find(' '), line.size()));
}

}  // namespace

// Processes and threads write in any order; sorted, the logs of two runs with the same faults are the same.
void sort_fault_log(std::vector<std::string>& lines) {
  std::sort(lines.begin(), lines.end(), [](const std::string& a, const std::string& b) {
    const std::string_view place_a = place_of(a), place_b = place_of(b);
    return place_a != place_b ? is_before(place_a, place_b) : a < b;
  });
}

std::vector<std::string> read_statements(const std::string& path, const std::string& transport) {
  FaultOptions options;
  options.file = path;
  Environment environment;
  if (!transport.empty()) environment.put("SOFTDAT_TRANSPORT", transport);
  // Throws if the plan has a mistake.
  const Faults checked(options, environment);
  std::vector<std::string> statements;
  std::istringstream lines(checked.text());
  for (std::string line; std::getline(lines, line);) {
    std::istringstream parts(line.substr(0, line.find('#')));
    for (std::string part; std::getline(parts, part, ';');) {
      const std::size_t first = part.find_first_not_of(" \t\r");
      if (first != part.npos) statements.push_back(part.substr(first, part.find_last_not_of(" \t\r") + 1 - first));
    }
  }
  return statements;
}

void FaultOptions::add_to(Subcommand& options) {
  options.set_group("Faults");
  options.add_text("--faults", "FILE", file, "A fault plan: TOML if the name ends in .toml, else statements or a log");
  options.add_texts("--fault", "STATEMENT", statements,
                    "A fault, as in 'drop-connection endpoint=2 op=write nth=5'; may be given again");
  options.add_text("--faults-log", "FILE", log, "Write what fired, as a plan that makes the same faults fire");
}

Faults::Faults(const FaultOptions& options, const Environment& environment) : log_(options.log) {
  if (!options.file.empty()) {
    const std::string text = read_file(options.file);
    if (!options.file.ends_with(".toml")) {
      add(text, options.file, 1);
    } else {
      for (const PlanStatement& statement : read_toml_plan(options.file, text)) {
        add(statement.text, options.file, statement.line);
      }
    }
  }
  for (const std::string& statement : options.statements) {
    if (statement.starts_with('@')) {
      throw UsageError(
          fmt::format("--fault \"{}\" is no statement; --faults \"{}\" reads a file", statement, statement.substr(1)));
    }
    add(statement, "", 0);
  }
  const std::string nasty = environment.value_of("SOFTDAT_NASTY");
  const bool is_nasty = !nasty.empty() && nasty != "0";
  if (is_nasty && environment.value_of("SOFTDAT_BACKEND").starts_with("verbs")) {
    throw UsageError(fmt::format("--nasty {} needs the simulated adapter. Leave --backend away", nasty));
  }
  if (rules_.empty() && !options.log.empty() && !is_nasty) {
    throw UsageError("--faults-log goes with --faults, --fault or --nasty");
  }
  if (rules_.empty() && !(options.file.empty() && options.statements.empty())) {
    throw UsageError(
        fmt::format("{}: the plan has no fault in it; name one, as in drop-connection nth=5", name_of(options)));
  }
  // Each part makes sense; together they may say the same twice.
  const auto whole = base::read_fault_plan(text_);
  if (!whole.ok()) throw UsageError(fmt::format("{}: {}", name_of(options), whole.reason().text));
  if (!rules_.empty()) check_transport(environment);
  // Said now, not after hours.
  if (!log_.empty() && !std::ofstream(log_, std::ios::app)) {
    throw UsageError(fmt::format("--faults-log \"{}\" cannot be written: {}", log_, std::strerror(errno)));
  }
}

// `name`: of the file; empty: an option.
void Faults::add(const std::string& text, const std::string& name, std::size_t line) {
  const auto plan = base::read_fault_plan(text);
  if (!plan.ok()) {
    const base::FaultPlanMistake& mistake = plan.reason();
    if (name.empty()) throw UsageError(fmt::format("--fault '{}': {}", text, mistake.text));
    throw UsageError(fmt::format("{}:{}: {}", name, line + mistake.line - 1, mistake.text));
  }
  for (const base::FaultRule& rule : plan.value().rules) rules_.push_back(rule);
  text_ += text;
  if (!text.ends_with('\n')) text_ += '\n';
}

void Faults::check_transport(const Environment& environment) const {
  if (environment.value_of("SOFTDAT_BACKEND").starts_with("verbs")) {
    throw UsageError("faults need the simulated adapter; an RDMA device makes none. Leave --backend away");
  }
  const std::string transport = environment.value_of("SOFTDAT_TRANSPORT");
  for (const base::FaultRule& rule : rules_) {
    const std::string_view needed = base::transport_of(rule);
    if (needed.empty() || needed == transport) continue;
    throw UsageError(base::wire_text(rule, transport.empty() ? "auto" : transport) + "; add --transport tcp");
  }
}

void Faults::put_into(Environment& environment) {
  directory_.emplace("softdat-faults");
  // All processes append to it.
  environment.put("SOFTDAT_FAULTS_LOG", directory_->path() + "/log");
  if (has_no_plan()) return;
  if (text_.size() <= kMostText) return environment.put("SOFTDAT_FAULTS", text_);
  const std::string path = directory_->path() + "/plan";
  std::ofstream file(path);
  file << text_;
  file.flush();
  if (!file) throw Failure(fmt::format("cannot write the plan to \"{}\": {}", path, std::strerror(errno)));
  environment.put("SOFTDAT_FAULTS", "@" + path);
}

void Faults::read_fired() {
  std::ifstream log(directory_->path() + "/log");
  fired_.clear();
  for (std::string line; std::getline(log, line);) fired_.push_back(line);
  sort_fault_log(fired_);
}

bool Faults::write_log() {
  std::ofstream file(log_, std::ios::trunc);
  for (const std::string& line : fired_) file << line << '\n';
  file.flush();
  is_log_written_ = static_cast<bool>(file);
  return is_log_written_;
}

void Faults::write_log_at_once() {
  std::error_code none;
  // A FIFO or a terminal waits for its reader.
  if (!fs::is_regular_file(log_, none)) return;
  read_fired();
  write_log();
}

std::size_t Faults::finish() {
  if (!is_log_written_) read_fired();
  if (!log_.empty() && !is_log_written_ && !write_log()) {
    throw Failure(fmt::format("cannot write the log of faults \"{}\": {}", log_, std::strerror(errno)));
  }
  // Lines of "#" are nasty mode's decisions, which are no faults.
  const auto is_fault = [](const std::string& line) { return !line.starts_with('#'); };
  return static_cast<std::size_t>(std::count_if(fired_.begin(), fired_.end(), is_fault));
}

}  // namespace softdat::tools::run
