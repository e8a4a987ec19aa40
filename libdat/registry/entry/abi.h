// SPDX-License-Identifier: BSD-2-Clause
// The one place that knows which DAT this copy of the entry points is compiled for: SOFTDAT_ABI is
// 12 for libdat.so.1 and 20 for libdat2.so.2.
#pragma once

#if SOFTDAT_ABI == 20
#include <dat2/udat.h>
//
#include <dat2/dat_registry.h>
#elif SOFTDAT_ABI == 12
#include <dat/udat.h>
//
#include <dat/dat_registry.h>
#else
#error "SOFTDAT_ABI must be 12 or 20"
#endif

#include <cstddef>
#include <cstdint>

#include "libdat/registry/ia_table.h"
#include "libdat/registry/provider_library.h"

namespace softdat::registry {

#if SOFTDAT_ABI == 20
inline constexpr std::uint32_t kApiMajor = 2;
inline constexpr std::uint32_t kApiMinor = 0;
inline constexpr IaTable::Handles kIaHandles = IaTable::Handles::kIntegers;
inline constexpr DAT_RETURN_SUBTYPE kEvdSubtype = DAT_INVALID_HANDLE_EVD_REQUEST;
// Where the registry of the other API can be found, should one process hold both.
inline constexpr const char* kOtherVersionNode = "DAT_1.2";
inline constexpr std::uint32_t kOtherApiMajor = 1;
#else
inline constexpr std::uint32_t kApiMajor = 1;
inline constexpr std::uint32_t kApiMinor = 2;
inline constexpr IaTable::Handles kIaHandles = IaTable::Handles::kPointers;
inline constexpr DAT_RETURN_SUBTYPE kEvdSubtype = DAT_INVALID_HANDLE1;
inline constexpr const char* kOtherVersionNode = "DAT_2.0";
inline constexpr std::uint32_t kOtherApiMajor = 2;
#endif

// The core hands its own ProviderInfo to providers as their DAT_PROVIDER_INFO.
static_assert(sizeof(ProviderInfo) == sizeof(DAT_PROVIDER_INFO));
static_assert(offsetof(ProviderInfo, major) == offsetof(DAT_PROVIDER_INFO, dapl_version_major));
static_assert(offsetof(ProviderInfo, minor) == offsetof(DAT_PROVIDER_INFO, dapl_version_minor));
static_assert(offsetof(ProviderInfo, is_thread_safe) == offsetof(DAT_PROVIDER_INFO, is_thread_safe));
static_assert(sizeof(DAT_NAME_PTR) == sizeof(char*) && kLongestIaName + 1 == DAT_NAME_MAX_LENGTH);

}  // namespace softdat::registry
