// SPDX-License-Identifier: BSD-2-Clause
// Why a DAT call, event or completion ends with a code, and what to do about it.
#pragma once

#include <dat2/udat.h>

#include <cstdint>
#include <string>

namespace softdat::tools {

struct Advice {
  const char* meaning;  // a sentence; null where the name's own table has one
  const char* causes;
  const char* remedy;
  const char* page;  // "dat_ep_connect(3)"
};

// Null for a code without advice, as a success.
const Advice* advice_on_return(DAT_RETURN code);
const Advice* advice_on_event(DAT_EVENT_NUMBER number);
const Advice* advice_on_completion(DAT_DTO_COMPLETION_STATUS status);

// What the subtype of a return value says, as "argument 3 of the call, counted from 1"; empty when it says nothing.
std::string subtype_meaning(const std::string& name);

}  // namespace softdat::tools
