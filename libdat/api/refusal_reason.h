// SPDX-License-Identifier: BSD-2-Clause
// Why a call was refused, if no lower room has said it: the argument with its value, what a handle is or was, and the
// sentence of docs/ERRORS.md.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "libdat/api/call_argument.h"

namespace softdat::api {

struct RefusedCall {
  std::string_view signature;  // the function's name and those of its arguments, separated by blanks
  std::span<const CallArgument> arguments;
  std::string_view type, subtype;  // the names of dat_error.h; `subtype` may be empty
  bool is_abi20;
};

// A sentence without a full stop; empty when there is nothing to say. Throws std::bad_alloc.
std::string reason_of(const RefusedCall& call);

}  // namespace softdat::api
