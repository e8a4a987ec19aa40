// SPDX-License-Identifier: BSD-2-Clause
// Turns a table of facts into checks: generate_checks TABLE OVERRIDES STATIC_OUT CALLS_OUT. OVERRIDES may be "". Every
// fact becomes one check or the program fails; set_checks.inc compiles what it writes.
#include <fstream>
#include <string>

#include "tests/abi/call_checks.h"
#include "tests/abi/fact_table.h"
#include "tests/abi/static_checks.h"

namespace softdat::abi_test {
namespace {

std::string heading(const std::string& macro, const Fact& fact) {
  return macro + "(\"" + fact.kind + "\", \"" + fact.name + "\", ";
}

void write_checks(const FactTable& table, std::ostream& static_out, std::ostream& calls_out) {
  int number = 0;
  std::string rows;
  for (const Fact& fact : table.facts) {
    static_out << preprocessor_guard(fact);
    if (const auto condition = static_condition(fact)) {
      static_out << heading("FACT", fact) << *condition << ")\n";
    } else {
      calls_out << call_check(fact, table, ++number);
      rows += heading("CALL", fact) + "check_" + std::to_string(number) + ")\n";
    }
  }
  calls_out << "#define ABI_CALLS \\\n";
  for (const char c : rows) calls_out << (c == '\n' ? " \\\n" : std::string(1, c));
  calls_out << "\n";
}

}  // namespace
}  // namespace softdat::abi_test

int main(int argc, char** argv) {
  using namespace softdat::abi_test;
  if (argc != 5) refuse("usage: generate_checks TABLE OVERRIDES STATIC_OUT CALLS_OUT");
  std::ofstream static_out(argv[3]);
  std::ofstream calls_out(argv[4]);
  write_checks(read_fact_table(argv[1], argv[2]), static_out, calls_out);
  static_out.close();
  calls_out.close();
  if (!static_out || !calls_out) refuse("cannot write the checks");
  return 0;
}
