// SPDX-License-Identifier: BSD-2-Clause
// Tells a person about a breach of a rule: on standard error, and to `softdat run` (base/runner.h). A breach of the
// same rule with the same first and last call is told once, and counted; the counts are told when the process ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libdat/object/object.h"
#include "libdat/sanitize/rules.h"
#include "libdat/sanitize/site.h"

namespace softdat::sanitize {

// What a call did to the object of the finding: "posted", "freed".
struct Step {
  const char* verb;
  Site site;
};

struct Finding {
  Rule rule;
  std::string what;         // a sentence: which buffer or object, and what is wrong
  std::vector<Step> steps;  // in the order of time
};

// Any thread, which may hold the ledger's lock. Slow the first time.
void report(const Finding& finding);

// Whether a finding with this rule, first and last step was reported before, which is then counted. Fast.
bool is_repeated(Rule rule, const Site& first, const Site& last);

// Tells how often each was found. Once, when the process ends.
void report_counts();

// "0x101"
std::string hex(std::uint64_t number);
// The same of an object that the program knows by this handle.
std::string hex(object::Handle handle);

}  // namespace softdat::sanitize
