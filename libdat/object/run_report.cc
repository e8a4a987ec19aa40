// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/run_report.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <map>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "base/call.h"
#include "base/forks.h"
#include "base/place.h"
#include "base/runner.h"
#include "hca/counters.h"
#include "libdat/object/consumer_frame.h"
#include "libdat/object/endpoint.h"
#include "libdat/object/handle_table.h"
#include "libdat/object/interface_adapter.h"

namespace softdat::object {
namespace {

constinit std::atomic<std::uint64_t> g_operations{0};
constinit std::atomic<std::uint64_t> g_bytes{0};

struct Carried {
  const char* carrier;
  std::atomic<std::uint64_t> connections{0};
};
constinit std::array<Carried, 4> g_carried{{{"shm"}, {"tcp"}, {"loop"}, {"verbs"}}};
constinit std::atomic<std::uint64_t> g_broken{0};

// A child made by fork() has transferred nothing of this.
void forget_transfers() {
  g_operations.store(0, std::memory_order_relaxed);
  g_bytes.store(0, std::memory_order_relaxed);
  g_broken.store(0, std::memory_order_relaxed);
  for (Carried& carried : g_carried) carried.connections.store(0, std::memory_order_relaxed);
}

[[gnu::constructor]] void forget_transfers_in_children() {
  base::on_fork({.in_child = forget_transfers});
}

std::string connection_lines(const std::string& pid) {
  std::string lines;
  for (const Carried& carried : g_carried) {
    const std::uint64_t count = carried.connections.load(std::memory_order_relaxed);
    if (count > 0) lines += "connections\t" + pid + '\t' + carried.carrier + '\t' + std::to_string(count) + '\n';
  }
  const std::uint64_t broken = g_broken.load(std::memory_order_relaxed);
  if (broken > 0) lines += "broken\t" + pid + '\t' + std::to_string(broken) + '\n';
  return lines;
}

void tell(std::string_view kind, const std::string& words) {
  base::tell_runner(std::string(kind) + '\t' + std::to_string(::getpid()) + '\t' + words + '\n');
}

// Reports are worth no failure: without memory they are not made.
template <typename Report>
void report(Report make) {
  if (!base::has_runner()) return;
  try {
    make();
  } catch (const std::bad_alloc&) {
  }
}

// Runs at the end of the process. Endpoints add their transfers before the sum is told.
void report_left_open() {
  std::map<std::pair<Kind, const void*>, unsigned> left;
  HandleTable::instance().for_each_live([&](Object& object, const void* maker) {
    if (maker != nullptr) ++left[{object.kind(), maker}];
    if (object.kind() == Kind::kEp) static_cast<Endpoint&>(object).counters().report_transfers();
  });
  std::string lines;
  const std::string pid = std::to_string(::getpid());
  for (const auto& [what, count] : left) {
    lines += "left\t" + pid + '\t' + name_of(what.first) + '\t' + std::to_string(count) + '\t' +
             base::runner_word(base::place_text(what.second)) + '\n';
  }
  lines += "transfers\t" + pid + '\t' + std::to_string(g_operations.load(std::memory_order_relaxed)) + '\t' +
           std::to_string(g_bytes.load(std::memory_order_relaxed)) + '\n';
  base::tell_runner(lines + connection_lines(pid));
}

// After the consumer's own handlers of exit(), because the loader runs the destructors of libraries last.
[[gnu::destructor]] void report_at_exit() {
  report(report_left_open);
}

}  // namespace

void report_opened(const InterfaceAdapter& ia) {
  report([&] {
    tell("open", base::runner_word(ia.name()) + '\t' + base::text_of(ia.device().attributes().address.with_port(0)));
  });
}

void report_listening(const InterfaceAdapter& ia, std::uint64_t conn_qual) {
  report([&] { tell("listen", base::runner_word(ia.name()) + '\t' + std::to_string(conn_qual)); });
}

// Under `softdat run` every object needs its maker, for the report of what was left open.
void note_maker(const Object& object) {
  const void* const place = base::has_runner() ? find_consumer_frame() : base::calling_place();
  if (place != nullptr) HandleTable::instance().note_maker(object, place);
}

void count_connection(const char* carrier) {
  if (!base::has_runner()) return;
  for (Carried& carried : g_carried) {
    if (std::string_view(carried.carrier) == carrier) carried.connections.fetch_add(1, std::memory_order_relaxed);
  }
}

void count_broken_connection() {
  if (base::has_runner()) g_broken.fetch_add(1, std::memory_order_relaxed);
}

void count_transfers(const hca::TransferCounts& counts) {
  if (!base::has_runner()) return;
  // What was posted, but for receives: each transfer of this process counts once, at the side that asked for it.
  for (std::size_t i = 0; i <= static_cast<std::size_t>(hca::Transfer::kPostFetchAdd); ++i) {
    if (i == static_cast<std::size_t>(hca::Transfer::kPostRecv)) continue;
    g_operations.fetch_add(counts[i].number, std::memory_order_relaxed);
    g_bytes.fetch_add(counts[i].bytes, std::memory_order_relaxed);
  }
}

}  // namespace softdat::object
