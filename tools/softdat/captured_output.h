// SPDX-License-Identifier: BSD-2-Clause
// Keeps what libraries of others print while an adapter is opened apart from what we print.
#pragma once

#include <string>
#include <vector>

namespace softdat::tools {

// From construction to destruction, standard output and standard error go to memory instead. Process-wide: no other
// thread may print meanwhile. Where the memory cannot be had, everything is printed as usual.
class CapturedOutput {
 public:
  CapturedOutput();
  ~CapturedOutput();
  CapturedOutput(const CapturedOutput&) = delete;
  CapturedOutput& operator=(const CapturedOutput&) = delete;

  // The lines printed so far; those of our libraries begin with "softdat: ", without the process id.
  std::vector<std::string> lines() const;

 private:
  int memory_ = -1;
  int output_ = -1;
  int error_ = -1;
};

}  // namespace softdat::tools
