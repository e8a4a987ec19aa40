// SPDX-License-Identifier: BSD-2-Clause
// Fault plans: any text gives rules that the table of faults allows, or a mistake with its line.
#include <algorithm>
#include <string_view>

#include "base/fault_plan.h"
#include "tests/fuzz/fuzz.h"

namespace softdat::fuzz {
namespace {

void check_rule(const base::FaultRule& rule, std::size_t lines) {
  const base::FaultKindRow& row = base::row_of(rule.kind);
  const auto has = [](std::string_view list, std::string_view word) {
    const auto words = base::words_of(list);
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  expect(rule.op == base::FaultOp::kAny || has(row.ops, base::name_of(rule.op)), "the operation is one of the fault's");
  expect(row.words.empty() ? rule.word.empty() : has(row.words, rule.word), "the word is one of the fault's");
  expect(rule.stage.has_value() || rule.kind == base::FaultKind::kNote, "each fault but one has a stage");
  expect(!has(row.required, "ms") || rule.ms.has_value(), "what is required is there");
  expect(rule.line >= 1 && rule.line <= lines, "a rule stands in a line of the text");
}

}  // namespace

void prepare() {}

void run_input(Input input) {
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  const auto plan = base::read_fault_plan(text);
  if (!plan.ok()) {
    const base::FaultPlanMistake& mistake = plan.reason();
    return expect(mistake.line >= 1 && mistake.line <= lines && !mistake.text.empty(),
                  "a mistake has a line and a text");
  }
  for (const base::FaultRule& rule : plan.value().rules) check_rule(rule, lines);
}

}  // namespace softdat::fuzz
