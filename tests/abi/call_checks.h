// SPDX-License-Identifier: BSD-2-Clause
// Facts that show only when something runs: texts, pointers, and where the calling macros lead and with what.
#pragma once

#include <string>

#include "tests/abi/fact_table.h"

namespace softdat::abi_test {

// The code, both C and C++, of a function `const char* check_N(void)` that returns null if the fact holds, and
// whatever it needs. `number` makes the names its own.
std::string call_check(const Fact& fact, const FactTable& table, int number);

}  // namespace softdat::abi_test
