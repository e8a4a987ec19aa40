// SPDX-License-Identifier: BSD-2-Clause
// The tables of facts/: one row per enumerator, macro, size, offset, type, prototype and return code of the public
// interface. An overrides table replaces or adds rows and says why; the value "-" means that a row cannot be checked.
#pragma once

#include <string>
#include <vector>

namespace softdat::abi_test {

struct Fact {
  std::string kind;
  std::string name;
  std::string value;
};

struct Skip {
  Fact fact;
  std::string reason;
};

struct FactTable {
  std::vector<Fact> facts;  // to be checked, in the table's order
  std::vector<Skip> skips;

  // The value of the first fact of that kind and name, or an empty string.
  [[nodiscard]] std::string find(const std::string& kind, const std::string& name) const;
};

// Reads a table and its overrides (an empty path for none). Ends the program, saying why, if a file cannot be read,
// a row has not its three or four fields, or an override says nothing new.
FactTable read_fact_table(const std::string& path, const std::string& overrides_path);

// Ends the program with a message: a table that cannot be understood must not pass for one that holds.
[[noreturn]] void refuse(const std::string& message);

}  // namespace softdat::abi_test
