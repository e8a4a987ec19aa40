// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "libdat/api/abi.h"
#include "libdat/api/registered_ia.h"
#include "libdat/object/object.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {

// The registration that a handle of ours was made under. The first word of a handle is its table and
// can be read for as long as the process lives.
inline const RegisteredIa& registered_ia_of_handle(object::Handle handle) {
  return registered_ia_of(*static_cast<const void* const*>(handle));
}

// An IA handle as the consumer knows it: under a DAT 2.0 registry a small integer.
inline DAT_IA_HANDLE consumer_ia_handle(object::Handle ia) {
  return registered_ia_of_handle(ia).consumer_handle(ia);
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
