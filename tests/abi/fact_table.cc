// SPDX-License-Identifier: BSD-2-Clause
#include "tests/abi/fact_table.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>

namespace softdat::abi_test {
namespace {

using Row = std::vector<std::string>;

Row split_at_tabs(const std::string& line) {
  Row fields;
  std::size_t start = 0;
  for (std::size_t tab = line.find('\t'); tab != std::string::npos; tab = line.find('\t', start)) {
    fields.push_back(line.substr(start, tab - start));
    start = tab + 1;
  }
  fields.push_back(line.substr(start));
  return fields;
}

std::vector<Row> read_rows(const std::string& path, std::size_t fields) {
  std::ifstream file(path);
  if (!file) refuse("cannot read " + path);
  std::vector<Row> rows;
  std::string line;
  std::getline(file, line);  // the heading
  while (std::getline(file, line)) {
    rows.push_back(split_at_tabs(line));
    if (rows.back().size() != fields) refuse(path + ": not " + std::to_string(fields) + " fields: " + line);
  }
  return rows;
}

void apply_override(const Row& row, FactTable& table) {
  const auto old = std::find_if(table.facts.begin(), table.facts.end(),
                                [&](const Fact& fact) { return fact.kind == row[0] && fact.name == row[1]; });
  if (row[2] == "-") {
    if (old == table.facts.end()) refuse("nothing to skip: " + row[0] + " " + row[1]);
    table.skips.push_back({*old, row[3]});
    table.facts.erase(old);
  } else if (old == table.facts.end()) {
    table.facts.push_back({row[0], row[1], row[2]});
  } else if (old->value == row[2]) {
    refuse("an override that changes nothing: " + row[0] + " " + row[1]);
  } else {
    old->value = row[2];
  }
}

}  // namespace

std::string FactTable::find(const std::string& kind, const std::string& name) const {
  for (const Fact& fact : facts) {
    if (fact.kind == kind && fact.name == name) return fact.value;
  }
  return {};
}

FactTable read_fact_table(const std::string& path, const std::string& overrides_path) {
  FactTable table;
  for (const Row& row : read_rows(path, 3)) table.facts.push_back({row[0], row[1], row[2]});
  if (overrides_path.empty()) return table;
  for (const Row& row : read_rows(overrides_path, 4)) apply_override(row, table);
  return table;
}

void refuse(const std::string& message) {
  std::cerr << "abi facts: " << message << '\n';
  std::exit(1);
}

}  // namespace softdat::abi_test
