// SPDX-License-Identifier: BSD-2-Clause
// What a sweep has found, for terminals, programs and browsers; and the file from which it is resumed.
#pragma once

#include <string>
#include <vector>

#include "tools/softdat/sweep/trial.h"

namespace softdat::tools::sweep {

// A trial as a line of JSON, and back; nothing of a line that is none (the last one of a sweep that was killed).
std::string encode(const Trial& trial);
std::optional<Trial> decode(const std::string& line);
// The first line of that file, which names what is swept.
std::string encode_header(const std::string& command);
std::optional<std::string> decode_header(const std::string& line);

// How many of each kind of fault came to which outcome, and each bad one with the command line that repeats it.
std::string as_text(const TrialPlan& plan, const std::vector<Trial>& trials);
std::string as_json(const TrialPlan& plan, const std::vector<Trial>& trials);
std::string as_html(const TrialPlan& plan, const std::vector<Trial>& trials);

}  // namespace softdat::tools::sweep
