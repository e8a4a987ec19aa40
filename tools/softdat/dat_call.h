// SPDX-License-Identifier: BSD-2-Clause
// Turns a failed DAT call into an exception that names the call and both error strings.
#pragma once

#include <dat2/udat.h>

#include <stdexcept>
#include <string>

namespace softdat::tools {

class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

[[noreturn]] void throw_failure_of(DAT_RETURN result, const char* call);

// Throws Failure unless `result` is DAT_SUCCESS.
inline void require(DAT_RETURN result, const char* call) {
  if (result != DAT_SUCCESS) [[unlikely]]
    throw_failure_of(result, call);
}

// "DAT_INVALID_STATE, DAT_INVALID_STATE_EP_CONNECTED" or so.
std::string describe(DAT_RETURN result);

}  // namespace softdat::tools
