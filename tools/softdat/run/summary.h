// SPDX-License-Identifier: BSD-2-Clause
// What `softdat run` says on standard error at the end: exit statuses, what was transferred, what was left behind.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tools/softdat/run/copy.h"
#include "tools/softdat/run/report_socket.h"

namespace softdat::tools::run {

class Summary {
 public:
  // Looks at what there is before the programs begin. `is_quiet`: nothing is said.
  explicit Summary(bool is_quiet);

  // Says at once what happened to a copy.
  void note(const std::string& text) const;
  void add(const Report& report);
  // A copy that has ended.
  void add(const Copy& copy);
  void print() const;

 private:
  void print_states() const;
  void print_transfers() const;
  std::string connections_text() const;
  void print_left_open() const;
  void print_stray_memory() const;

  const bool is_quiet_;
  const std::chrono::steady_clock::time_point start_;
  const std::set<std::string> memory_before_;
  std::vector<std::pair<std::string, std::string>> states_;  // name and exit state of each copy
  bool has_all_ended_ = true;                                // by themselves
  std::uint64_t adapters_ = 0;
  std::uint64_t operations_ = 0;
  std::map<std::string, std::uint64_t> connections_;  // by carrier: endpoints that were connected
  std::uint64_t broken_ = 0;
  std::uint64_t bytes_ = 0;
  std::map<std::pair<std::string, std::string>, std::uint64_t> left_;  // by kind and place of creation
};

}  // namespace softdat::tools::run
