// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

namespace softdat::api {

// DAT_PROVIDER_INFO, which has one layout in DAT 1.2 and 2.0; registered_ia.cc asserts that.
struct ProviderInfo {
  char ia_name[256];
  std::uint32_t major;
  std::uint32_t minor;
  std::uint32_t is_thread_safe;
};

}  // namespace softdat::api
