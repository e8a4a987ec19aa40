// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/dat_call.h"

#include <fmt/format.h>

namespace softdat::tools {

std::string describe(DAT_RETURN result) {
  const char* major = nullptr;
  const char* minor = nullptr;
  if (dat_strerror(result, &major, &minor) != DAT_SUCCESS || major == nullptr) {
    return fmt::format("unknown answer {:#010x}", result);
  }
  return minor == nullptr || *minor == '\0' ? std::string(major) : fmt::format("{}, {}", major, minor);
}

[[gnu::noinline]] void throw_failure_of(DAT_RETURN result, const char* call) {
  throw Failure(fmt::format("{} answered {}", call, describe(result)));
}

}  // namespace softdat::tools
