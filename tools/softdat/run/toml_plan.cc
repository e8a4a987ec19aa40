// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/run/toml_plan.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <cstdint>

#include "base/fault_plan.h"
#include "tools/softdat/command_line.h"
#include "tools/softdat/words.h"

namespace softdat::tools::run {
namespace {

[[noreturn]] void fail(const std::string& path, std::size_t line, const std::string& text) {
  throw UsageError(fmt::format("{}:{}: {}", path, line, text));
}

std::size_t line_of(const toml::node& node) {
  return node.source().begin.line;
}

// A value as the words of a statement have it.
std::string value_text(const std::string& path, const toml::key& key, const toml::node& node) {
  if (const auto* whole = node.as_integer()) return fmt::format("{}", whole->get());
  if (const auto* real = node.as_floating_point()) return fmt::format("{}", real->get());
  const auto* text = node.as_string();
  if (text == nullptr) fail(path, line_of(node), fmt::format("\"{}\" takes a number or a text in quotes", key.str()));
  if (text->get().empty() || text->get().find_first_of(" \t\n\r;#") != std::string::npos) {
    fail(path, line_of(node), fmt::format("\"{}\" takes a text without blanks, \";\" and \"#\"", key.str()));
  }
  return text->get();
}

PlanStatement read_fault(const std::string& path, const toml::table& fault) {
  const toml::node* const kind = fault.get("kind");
  if (kind == nullptr) fail(path, line_of(fault), "[[fault]] has no kind, as in kind = \"drop-connection\"");
  if (!kind->is_string()) fail(path, line_of(*kind), "\"kind\" takes a text in quotes");
  PlanStatement statement{value_text(path, toml::key("kind"), *kind), line_of(fault)};
  base::FaultRule rule;
  const auto known = base::find_fault_kind(statement.text);
  if (known) rule.kind = *known;
  for (const auto& [key, node] : fault) {
    if (key.str() == "kind") continue;
    const std::string value = value_text(path, key, node);
    // One key at a time, because each stands in a line of its own.
    if (known) {
      if (const auto mistake = base::set_fault_key(rule, key.str(), value)) {
        fail(path, key.source().begin.line, *mistake);
      }
    }
    statement.text += fmt::format(" {}={}", key.str(), value);
  }
  // The statement as a whole: keys that do not go together.
  const auto read = base::read_fault_plan(statement.text);
  if (!read.ok()) fail(path, known ? line_of(fault) : line_of(*kind), read.reason().text);
  return statement;
}

}  // namespace

std::vector<PlanStatement> read_toml_plan(const std::string& path, const std::string& text) {
  toml::table table;
  try {
    table = toml::parse(text);
  } catch (const toml::parse_error& error) {
    fail(path, error.source().begin.line, std::string(error.description()));
  }
  std::vector<PlanStatement> statements;
  for (const auto& [key, node] : table) {
    const std::size_t line = key.source().begin.line;
    if (key.str() == "seed") {
      const auto* seed = node.as_integer();
      if (seed == nullptr || seed->get() < 0) fail(path, line, "\"seed\" takes a whole number from 0 on");
      statements.insert(statements.begin(), {fmt::format("seed={}", seed->get()), line});
      continue;
    }
    const auto* faults = node.as_array();
    if (key.str() == "fault" && faults == nullptr) {
      fail(path, line, "\"fault\" stands in two brackets each time: [[fault]]");
    }
    if (key.str() != "fault") {
      fail(path, line,
           fmt::format("\"{}\" is no part of a plan{}; allowed: seed, [[fault]]", key.str(),
                       did_you_mean(key.str(), {"seed", "fault"})));
    }
    for (const toml::node& fault : *faults) {
      if (!fault.is_table()) fail(path, line_of(fault), "each fault is a table, as in [[fault]] and kind = \"delay\"");
      statements.push_back(read_fault(path, *fault.as_table()));
    }
  }
  return statements;
}

}  // namespace softdat::tools::run
