// SPDX-License-Identifier: BSD-2-Clause
// Where the consumer made a call. Plain values.
#pragma once

#include <string>

namespace softdat::sanitize {

struct Site {
  const char* call = nullptr;   // begins with the function's name, which a blank or the end follows; static
  const void* place = nullptr;  // the return address in the consumer's code
};

// The call of a Site that is an access to memory; `place` is then behind the instruction.
inline constexpr char kAccess[] = "";

// "dat_lmr_free"; empty without a call.
std::string call_name(const Site& site);

// "dat_lmr_free, called by main at x.c:7", of an access "main at x.c:7"; empty without a call. Slow (base/place.h).
std::string text_of(const Site& site);

}  // namespace softdat::sanitize
