// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "libdat/api/abi.h"
#include "libdat/object/endpoint_parameters.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {

inline object::RemoteBuffer remote_buffer_of(const DAT_RMR_TRIPLET& remote) {
#if SOFTDAT_ABI == 20
  return {remote.virtual_address, remote.segment_length, remote.rmr_context};
#else
  return {remote.target_address, remote.segment_length, remote.rmr_context};
#endif
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
