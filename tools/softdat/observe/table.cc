// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/observe/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/softdat/observe/names.h"
#include "tools/softdat/words.h"

namespace softdat::tools::observe {
namespace {

constexpr Column kProcessColumns[] = {
    {"PID", true},    {"PROGRAM", false}, {"EPS", true},      {"CONN", true},   {"OPS/S", true}, {"MB/S", true},
    {"OPS", true},    {"BYTES", true},    {"RECV", true},     {"FAILED", true}, {"RNR", true},   {"RETRY", true},
    {"QUEUED", true}, {"REGIONS", true},  {"REGBYTES", true}, {"PINNED", true}, {"AGE", true}};
constexpr Column kEndpointColumns[] = {
    {"ENDPOINT", false}, {"STATE", false}, {"SINCE", true},  {"REMOTE", false}, {"OPS/S", true},   {"MB/S", true},
    {"OPS", true},       {"BYTES", true},  {"RECV", true},   {"FAILED", true},  {"FLUSHED", true}, {"RNR", true},
    {"RETRY", true},     {"SENDQ", true},  {"SENDHW", true}, {"RECVQ", true},   {"RECVHW", true}};
Cell number(double value) {
  return {short_number(value), value};
}
Cell whole(std::uint64_t value) {
  return {fmt::format("{}", value), static_cast<double>(value)};
}
Cell count(std::uint64_t value) {
  return number(static_cast<double>(value));
}
Cell text(std::string words) {
  return {std::move(words), 0};
}
Cell duration(double seconds) {
  return {short_time(seconds), seconds};
}

// Per second.
struct Rates {
  double operations = 0;
  double megabytes = 0;
};
Rates rates(const base::EndpointSums& now, const base::EndpointSums& before, double seconds) {
  const auto all = [](const base::EndpointSums& sums) {
    return static_cast<double>(requests(sums.transfers) + received(sums.transfers));
  };
  const auto bytes = [](const base::EndpointSums& sums) {
    return static_cast<double>(request_bytes(sums.transfers) + received_bytes(sums.transfers));
  };
  // Between two publications of the owner, not between two looks: several looks may find the same snapshot.
  if (seconds <= 0) return {};
  // Not below 0: the numbers are the owner's, and may be anything.
  return {std::max(0.0, all(now) - all(before)) / seconds, std::max(0.0, bytes(now) - bytes(before)) / seconds / 1e6};
}

// The same process as it was before.
const Process* find(const std::vector<Process>& processes, const Process& wanted) {
  const auto is_it = [&](const Process& each) { return each.pid == wanted.pid && each.start == wanted.start; };
  const auto found = std::find_if(processes.begin(), processes.end(), is_it);
  return found == processes.end() ? nullptr : &*found;
}

double seconds_between(const Process& before, const Process& now) {
  return seconds(before.snapshot.head.published_ns, now.snapshot.head.published_ns);
}

Row process_row(const Process& process, const Process* before) {
  const Snapshot& snapshot = process.snapshot;
  const Rates now =
      before == nullptr ? Rates{} : rates(snapshot.sums, before->snapshot.sums, seconds_between(*before, process));
  std::uint64_t connected = 0;
  std::uint64_t queued = 0;
  for (const base::EpRecord& ep : snapshot.eps) {
    connected += is_connected(ep.state) ? 1 : 0;
    queued += ep.sends_outstanding;
  }
  return {.cells = {whole(static_cast<std::uint64_t>(process.pid)), text(process.program), whole(snapshot.eps.size()),
                    whole(connected), number(now.operations), number(now.megabytes),
                    count(requests(snapshot.sums.transfers)), count(request_bytes(snapshot.sums.transfers)),
                    count(received(snapshot.sums.transfers)), count(failures(snapshot.sums)),
                    count(snapshot.sums.rnr_waits), count(snapshot.sums.resends + snapshot.sums.connect_retries),
                    count(queued), count(snapshot.lmrs.size()), count(registered_bytes(snapshot)),
                    count(process.pinned_bytes), duration(process.age_s)},
          .pid = process.pid,
          .start = process.start};
}

Row endpoint_row(const Process& process, const base::EpRecord& ep, const Rates& now) {
  const double since = seconds(ep.state_ns, process.snapshot.head.published_ns);
  return {
      .cells = {text(id_text(ep.id)), text(state_name(ep.state)), duration(since), text(printable(ep.remote)),
                number(now.operations), number(now.megabytes), count(requests(ep.sums.transfers)),
                count(request_bytes(ep.sums.transfers)), count(received(ep.sums.transfers)), count(failures(ep.sums)),
                count(ep.sums.failed_requests[kFlushed] + ep.sums.failed_receives[kFlushed]), count(ep.sums.rnr_waits),
                count(ep.sums.resends + ep.sums.connect_retries), whole(ep.sends_outstanding),
                whole(ep.send_high_water), whole(ep.recvs_outstanding), whole(ep.recv_high_water)},
      .pid = process.pid,
      .endpoint = ep.id};
}

const base::EpRecord* find_endpoint(const Process& process, std::uint64_t id) {
  for (const base::EpRecord& ep : process.snapshot.eps) {
    if (ep.id == id) return &ep;
  }
  return nullptr;
}

void add_transfers(std::vector<std::string>& lines, const base::EndpointSums& sums) {
  lines.emplace_back("");
  lines.push_back(fmt::format("{:<22}{:>16}{:>20}", "operation", "number", "bytes"));
  for (std::size_t i = 0; i < kTransferNames.size(); ++i) {
    const base::CountedTransfer& counted = sums.transfers[i];
    if (counted.number == 0) continue;
    lines.push_back(fmt::format("{:<22}{:>16}{:>20}", kTransferNames[i], counted.number, counted.bytes));
  }
}

void add_statuses(std::vector<std::string>& lines, const base::EpRecord& ep) {
  lines.emplace_back("");
  lines.push_back(fmt::format("{:<22}{:>16}{:>20}", "completed with", "requests", "receives"));
  lines.push_back(fmt::format("{:<22}{:>16}{:>20}", kStatusNames[0], ep.completed_requests, ep.completed_receives));
  for (std::size_t i = 1; i < kStatusNames.size(); ++i) {
    if (ep.sums.failed_requests[i] + ep.sums.failed_receives[i] == 0) continue;
    lines.push_back(
        fmt::format("{:<22}{:>16}{:>20}", kStatusNames[i], ep.sums.failed_requests[i], ep.sums.failed_receives[i]));
  }
}

void add_failures(std::vector<std::string>& lines, const Process& process, std::uint64_t endpoint) {
  lines.emplace_back("");
  lines.emplace_back("last failures");
  const std::uint64_t now = process.snapshot.head.published_ns;
  std::size_t shown = 0;
  for (const base::FailureRecord& failure : process.snapshot.failures) {
    if (failure.ep != endpoint) continue;
    lines.push_back(fmt::format("  {} ago: {}", short_time(seconds(failure.when_ns, now)), printable(failure.text)));
    ++shown;
  }
  if (shown == 0) lines.emplace_back("  none");
}

std::vector<Column> to_vector(std::span<const Column> columns) {
  return {columns.begin(), columns.end()};
}

}  // namespace

std::vector<std::string> process_columns() {
  std::vector<std::string> names;
  for (const Column& column : kProcessColumns) names.push_back(lower_case(column.name));
  return names;
}

Table process_table(const std::vector<Process>& now, const std::vector<Process>& before) {
  Table table{to_vector(kProcessColumns), {}};
  for (const Process& process : now) table.rows.push_back(process_row(process, find(before, process)));
  return table;
}

Table endpoint_table(const Process& now, const std::vector<Process>& before) {
  Table table{to_vector(kEndpointColumns), {}};
  const Process* const old = find(before, now);
  for (const base::EpRecord& ep : now.snapshot.eps) {
    const base::EpRecord* const known = old == nullptr ? nullptr : find_endpoint(*old, ep.id);
    table.rows.push_back(
        endpoint_row(now, ep, known == nullptr ? Rates{} : rates(ep.sums, known->sums, seconds_between(*old, now))));
  }
  return table;
}

std::vector<std::string> endpoint_lines(const Process& process, std::uint64_t endpoint) {
  const base::EpRecord* const ep = find_endpoint(process, endpoint);
  if (ep == nullptr) return {};
  const double since = seconds(ep->state_ns, process.snapshot.head.published_ns);
  std::vector<std::string> lines{
      fmt::format("endpoint {} of {} ({})", id_text(ep->id), process.program, process.pid),
      fmt::format("state           {} for {}", state_name(ep->state), short_time(since)),
      fmt::format("peer            {} qualifier {}", printable(ep->remote), ep->remote_qual),
      fmt::format("send queue      {} outstanding, at most {} so far, room for {}", ep->sends_outstanding,
                  ep->send_high_water, ep->send_capacity),
      fmt::format("receive queue   {} outstanding, at most {} so far, room for {}", ep->recvs_outstanding,
                  ep->recv_high_water, ep->recv_capacity),
      fmt::format("RNR waits       {}, resends {}, connect retries {}", ep->sums.rnr_waits, ep->sums.resends,
                  ep->sums.connect_retries),
      fmt::format("EVDs            request {}, receive {}, connection {}", id_text(ep->request_evd),
                  id_text(ep->recv_evd), id_text(ep->connect_evd))};
  add_transfers(lines, ep->sums);
  add_statuses(lines, *ep);
  add_failures(lines, process, endpoint);
  return lines;
}

void sort_rows(Table& table, std::size_t column, bool is_reversed) {
  if (column >= table.columns.size()) return;
  const bool is_number = table.columns[column].is_number;
  const auto is_before = [&](const Row& a, const Row& b) {
    const Cell& left = a.cells[column];
    const Cell& right = b.cells[column];
    return is_number ? left.value > right.value : left.text < right.text;
  };
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [&](const Row& a, const Row& b) { return is_reversed ? is_before(b, a) : is_before(a, b); });
}

void filter_rows(Table& table, const std::string& words) {
  const std::string wanted = lower_case(words);
  std::erase_if(table.rows, [&](const Row& row) {
    return std::none_of(row.cells.begin(), row.cells.end(),
                        [&](const Cell& cell) { return lower_case(cell.text).find(wanted) != std::string::npos; });
  });
}

std::vector<std::string> lines_of(const Table& table) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    std::size_t width = std::string_view(table.columns[i].name).size();
    for (const Row& row : table.rows) width = std::max(width, row.cells[i].text.size());
    widths.push_back(width);
  }
  const auto join_cells = [&](auto text_of) {
    std::string line;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (i > 0) line += ' ';
      line += table.columns[i].is_number ? fmt::format("{:>{}}", text_of(i), widths[i])
                                         : fmt::format("{:<{}}", text_of(i), widths[i]);
    }
    return line;
  };
  std::vector<std::string> lines{join_cells([&](std::size_t i) { return std::string(table.columns[i].name); })};
  for (const Row& row : table.rows) lines.push_back(join_cells([&](std::size_t i) { return row.cells[i].text; }));
  return lines;
}

std::string short_number(double value) {
  constexpr const char* kUnits[] = {"", "k", "M", "G", "T", "P", "E"};
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  if (unit == 0 && (value >= 10 || value == std::floor(value))) return fmt::format("{:.0f}", value);
  return fmt::format("{:.{}f}{}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, kUnits[unit]);
}

std::string short_time(double seconds) {
  constexpr double kMost = 1e9;
  const auto whole_seconds = static_cast<std::uint64_t>(std::min(std::max(seconds, 0.0), kMost));
  if (whole_seconds < 60) return fmt::format("{}s", whole_seconds);
  if (whole_seconds < 3600) return fmt::format("{}m{:02}s", whole_seconds / 60, whole_seconds % 60);
  if (whole_seconds < 86400) return fmt::format("{}h{:02}m", whole_seconds / 3600, whole_seconds / 60 % 60);
  return fmt::format("{}d{:02}h", whole_seconds / 86400, whole_seconds / 3600 % 24);
}

}  // namespace softdat::tools::observe
