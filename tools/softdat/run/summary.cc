// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/run/summary.h"

#include <fmt/format.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <filesystem>

#include "base/shared_memory_directory.h"
#include "tools/softdat/run/process.h"

namespace softdat::tools::run {
namespace {

namespace fs = std::filesystem;

// More would bury the program's own output.
constexpr std::size_t kMostLines = 10;
constexpr std::size_t kMostStates = 8;

void say(const std::string& text) {
  fmt::print(stderr, "softdat: {}\n", text);
}

std::string counted(std::uint64_t count, const std::string& one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::uint64_t to_number(const std::string& text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Files of /dev/shm and System V segments of this user, which outlive the processes that made them. SoftDAT's own
// directories are no strays: its processes tidy up what is in them.
std::set<std::string> shared_memory() {
  std::set<std::string> names;
  std::error_code ignored;
  const std::array own = {fmt::format("{}/softdat-{}", base::kSharedMemoryDirectory, ::geteuid()),
                          fmt::format("{}/softdat-lmr-{}", base::kSharedMemoryDirectory, ::geteuid())};
  for (const auto& entry : fs::directory_iterator(base::kSharedMemoryDirectory, ignored)) {
    struct stat found = {};
    const std::string path = entry.path().string();
    if (std::ranges::find(own, path) != own.end()) continue;
    if (::lstat(path.c_str(), &found) == 0 && found.st_uid == ::geteuid()) names.insert(path);
  }
  shm_info info;
  const int highest = ::shmctl(0, SHM_INFO, reinterpret_cast<shmid_ds*>(&info));
  for (int index = 0; index <= highest; ++index) {
    shmid_ds segment;
    const int id = ::shmctl(index, SHM_STAT, &segment);
    // One that a process still has attached is in use, and not left behind.
    if (id < 0 || segment.shm_perm.cuid != ::geteuid() || segment.shm_nattch != 0) continue;
    names.insert(fmt::format("System V segment {} of {} bytes (ipcrm -m {})", id, segment.shm_segsz, id));
  }
  return names;
}

std::string state_text(const Copy& copy) {
  if (!copy.has_begun()) return "not started";
  const int status = copy.status().value_or(0);
  const char* const how = copy.was_stopped() ? "stopped, " : "";
  if (status <= kExitSignal) return fmt::format("{}exit status {}", how, status);
  const char* const name = ::sigabbrev_np(status - kExitSignal);
  return name == nullptr ? fmt::format("{}exit status {}", how, status) : fmt::format("{}killed by SIG{}", how, name);
}

}  // namespace

Summary::Summary(bool is_quiet)
    : is_quiet_(is_quiet), start_(std::chrono::steady_clock::now()), memory_before_(shared_memory()) {}

void Summary::note(const std::string& text) const {
  if (!is_quiet_) say(text);
}

void Summary::add(const Report& report) {
  const std::vector<std::string>& words = report.words;
  if (report.kind == "open") ++adapters_;
  if (report.kind == "transfers" && words.size() >= 3) {
    operations_ += to_number(words[1]);
    bytes_ += to_number(words[2]);
  }
  if (report.kind == "connections" && words.size() >= 3) connections_[words[1]] += to_number(words[2]);
  if (report.kind == "broken" && words.size() >= 2) broken_ += to_number(words[1]);
  if (report.kind == "left" && words.size() >= 4) left_[{words[1], words[3]}] += to_number(words[2]);
}

void Summary::add(const Copy& copy) {
  states_.emplace_back(copy.plan().name, state_text(copy));
  // A copy that was stopped may have been about to open its adapter.
  has_all_ended_ = has_all_ended_ && copy.has_begun() && !copy.was_stopped();
}

void Summary::print() const {
  if (is_quiet_) return;
  print_states();
  print_transfers();
  print_left_open();
  print_stray_memory();
}

void Summary::print_states() const {
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const bool is_same = std::all_of(states_.begin(), states_.end(),
                                   [&](const auto& state) { return state.second == states_.front().second; });
  if (is_same && states_.size() > 1) {
    return say(fmt::format("{} copies: {}; {:.1f} s", states_.size(), states_.front().second, seconds));
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(states_.size(), kMostStates); ++i) {
    text += fmt::format("{}{}: {}", i == 0 ? "" : ", ", states_[i].first, states_[i].second);
  }
  if (states_.size() > kMostStates) text += fmt::format(", and {} more", states_.size() - kMostStates);
  say(fmt::format("{}; {:.1f} s", text, seconds));
}

void Summary::print_transfers() const {
  if (adapters_ == 0) {
    if (!has_all_ended_) return;
    return say("no adapter was opened; softdat doctor PROGRAM says which DAT library a program loads");
  }
  say(fmt::format("{} opened, {}{}, {} bytes", counted(adapters_, "adapter"), connections_text(),
                  counted(operations_, "operation"), bytes_));
  if (broken_ > 0) say(fmt::format("{} failed or broke; softdat says why above", counted(broken_, "connection")));
}

std::string Summary::connections_text() const {
  std::uint64_t all = 0;
  std::string parts;
  for (const auto& [carrier, count] : connections_) {
    parts += fmt::format("{}{} over {}", all == 0 ? "" : ", ", count, carrier);
    all += count;
  }
  return all == 0 ? "" : fmt::format("{} connected ({}), ", counted(all, "endpoint"), parts);
}

void Summary::print_left_open() const {
  std::size_t lines = 0;
  for (const auto& [what, count] : left_) {
    if (++lines > kMostLines) return say("left open: more, made in other places");
    say(fmt::format("left open: {} {}, made by {}", count, what.first, what.second));
  }
}

void Summary::print_stray_memory() const {
  for (const std::string& name : shared_memory()) {
    if (!memory_before_.contains(name)) say(fmt::format("new in shared memory, and left: {}", name));
  }
}

}  // namespace softdat::tools::run
