// SPDX-License-Identifier: BSD-2-Clause
// What the sanitizer of the programs has found (docs/SANITIZER.md): for the exit status, and as JSON.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tools/softdat/run/report_socket.h"

namespace softdat::tools::run {

class Findings {
 public:
  void add(const Report& report);
  // Whether there are errors; advice is none.
  bool has_errors() const;
  // Writes all, in the order in which they were found. Failure when the file cannot be written.
  void write_json(const std::string& path) const;

 private:
  struct Finding {
    std::string rule;
    std::string severity;
    std::string what;
    std::vector<std::string> calls;
    std::uint64_t times = 1;
  };
  using Key = std::pair<std::string, std::string>;  // process id, number in that process

  std::vector<Key> order_;
  std::map<Key, Finding> findings_;
};

}  // namespace softdat::tools::run
