// SPDX-License-Identifier: BSD-2-Clause
// Every entry point of the DAT API with each of its handle arguments, as calls that are right but
// for that handle; and with each other argument that can be wrong, as calls that are right but for
// it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/conformance/bad_input_world.h"

namespace softdat::conformance {

struct HandleArgument {
  std::string function;  // "dat_evd_free"
  std::string argument;  // "evd"
  DAT_HANDLE_TYPE type;
  DAT_RETURN_SUBTYPE subtype;  // what the answer to a bad one must say
  std::function<DAT_RETURN(World&, DAT_HANDLE)> call;
  bool null_is_allowed = false;
  bool any_kind = false;  // dat_get_handle_type and its like
};

struct WildArgument {
  std::string function;
  std::string argument;
  std::function<DAT_RETURN(World&)> call;
  testing::Matcher<DAT_RETURN> answer;
};

std::vector<HandleArgument> handle_arguments();
std::vector<WildArgument> wild_arguments();

// Entry points that take no handle, by name; wild_arguments() covers them.
std::vector<std::string> functions_without_handles();

}  // namespace softdat::conformance
