// SPDX-License-Identifier: BSD-2-Clause
// The plan, its results and what two sides tell each other, as JSON texts of one line.
#pragma once

#include <dat2/udat.h>

#include <string>
#include <vector>

#include "tools/softdat/perf/plan.h"
#include "tools/softdat/perf/result.h"

namespace softdat::tools::perf {

std::string encode(const Job& job);
std::string encode(const Case& what);
std::string encode(const Result& result);

// Each throws Failure for a text that is not what its name says.
Job decode_job(const std::string& text);
// Failure if it does not fit `setup`, too.
Case decode_case(const std::string& text, const Setup& setup);
Result decode_result(const std::string& text);

// The first words of both sides: the client says how the pair is made, each where its memory is.
struct Hello {
  Setup setup;  // the client's
  DAT_RMR_TRIPLET memory{};
};
std::string encode(const Hello& hello);
// Failure if the setup is not possible, too.
Hello decode_hello(const std::string& text);

// The client's last words, after which it disconnects.
inline constexpr const char* kBye = "bye";

// What the server adds to a case that has ended.
struct Report {
  double messages_per_s = 0;      // its own part of a bidirectional case
  double cpu_seconds = 0;         // idle
  double context_switches = 0;    // idle
  double bytes_per_endpoint = 0;  // memory
  double files_per_endpoint = 0;  // memory
};
std::string encode(const Report& report);
Report decode_report(const std::string& text);

// The file that --json writes: what was asked, on what machine, and every result; several lines.
std::string report_file(const Setup& setup, const std::string& ia, const std::string& transport, int processes,
                        const std::vector<Result>& results);

}  // namespace softdat::tools::perf
