// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/call.h"
#include "libdat/api/call_argument.h"

namespace softdat::api {

// Says why the call was refused; its name is that of the function, with those of the arguments behind. Nothing of
// answers that tell no mistake: an empty queue, a time-out, an interrupted wait.
void tell_refusal(const base::Call& call, std::uint32_t answer, std::span<const CallArgument> arguments, bool is_abi20);

// "DAT_INVALID_PARAMETER DAT_INVALID_ARG3": the names of a DAT_RETURN, or its number where no registry knows them.
std::string answer_text(std::uint32_t answer);

}  // namespace softdat::api
