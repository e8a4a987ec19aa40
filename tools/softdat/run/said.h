// SPDX-License-Identifier: BSD-2-Clause
// What SoftDAT has said of the programs: refused calls and failures, as JSON.
#pragma once

#include <string>
#include <vector>

#include "tools/softdat/run/report_socket.h"

namespace softdat::tools::run {

class Said {
 public:
  void add(const Report& report);
  // Writes all, in the order in which they were said. Failure when the file cannot be written.
  void write_json(const std::string& path) const;

 private:
  struct Sentence {
    std::string process;
    std::string text;
  };
  std::vector<Sentence> sentences_;
};

}  // namespace softdat::tools::run
