// SPDX-License-Identifier: BSD-2-Clause
// Facts that the compiler itself can confirm.
#pragma once

#include <optional>
#include <string>

#include "tests/abi/fact_table.h"

namespace softdat::abi_test {

// A condition in the words of checks.h, or nothing if the fact takes a program to check (call_checks.h).
std::optional<std::string> static_condition(const Fact& fact);

// Lines for the preprocessor that fail if a function is, or something is missing that, should not be a macro.
std::string preprocessor_guard(const Fact& fact);

}  // namespace softdat::abi_test
