// SPDX-License-Identifier: BSD-2-Clause
// The DAT headers of the one API that this compilation is for, inside a namespace of their own.
// Every source of this room is compiled twice, with SOFTDAT_ABI 12 and 20; the namespaces keep the
// two layouts of one name apart, so that both can stand in one library. Whatever the DAT headers
// include themselves is included here first, outside.
#pragma once

#include <netinet/in.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <cstdint>

#if SOFTDAT_ABI == 20
#define SOFTDAT_ABI_NAMESPACE abi20
#elif SOFTDAT_ABI == 12
#define SOFTDAT_ABI_NAMESPACE abi12
#else
#error "SOFTDAT_ABI must be 12 or 20"
#endif

namespace softdat::SOFTDAT_ABI_NAMESPACE {

#if SOFTDAT_ABI == 20
#include <dat2/udat.h>
//
#include <dat2/dat_registry.h>
//
#include <dat2/dat_ib_extensions.h>
#else
#include <dat/udat.h>
//
#include <dat/dat_registry.h>
#endif

inline constexpr int kAbi = SOFTDAT_ABI;
inline constexpr bool kIsAbi20 = kAbi == 20;
inline constexpr std::uint32_t kAbiMajor = kAbi / 10;
inline constexpr std::uint32_t kAbiMinor = kAbi % 10;

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
