// SPDX-License-Identifier: BSD-2-Clause
// A C prototype as the tables write it: "DAT_RETURN dat_x(IN DAT_EP_HANDLE ep_handle, OUT DAT_COUNT* n)  [dat.h; ...]".
#pragma once

#include <string>
#include <vector>

namespace softdat::abi_test {

struct Prototype {
  std::string name;
  std::string result;
  std::string parameters;          // as in the table, without IN, OUT and INOUT
  std::vector<std::string> types;  // of each parameter, top-level const removed; "..." for the variable rest
};

// `name` is what stands before the parenthesis. Refuses a text that is not a prototype of it.
Prototype parse_prototype(const std::string& text, const std::string& name);

// "a, b,c" as {"a", "b", "c"}.
std::vector<std::string> split_list(const std::string& text, char separator);

// "DAT_COUNT* n" as {"DAT_COUNT*", "n"}.
struct Declaration {
  std::string type;
  std::string name;
};
Declaration split_declaration(const std::string& text);

// The type of a variable that can be assigned and then passed for a parameter of this type.
std::string without_top_level_const(const std::string& type);

}  // namespace softdat::abi_test
