// SPDX-License-Identifier: BSD-2-Clause
// Results as the text that a user reads, one row each.
#pragma once

#include <string>

#include "tools/softdat/perf/result.h"

namespace softdat::tools::perf {

// "8 B", "64 KiB"
std::string size_text(std::uint64_t bytes);
// Three or four significant digits, without an exponent.
std::string number_text(double value);

// Whether a result that was to last for a duration rests on fewer than 100 rounds: the machine was busy, or the
// duration is short for the size. Its tail latencies mean nothing then.
bool has_few_rounds(const Result& result);

class Table {
 public:
  // Prints the heading of the measure before the first row of it. Marks a row of few rounds with "few".
  void print(const Result& result);

 private:
  void print_heading(Measure measure);
  static std::string figures_of(const Result& result);

  bool has_heading_ = false;
  Measure heading_ = Measure::kLatency;
};

}  // namespace softdat::tools::perf
