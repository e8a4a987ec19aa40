// SPDX-License-Identifier: BSD-2-Clause
// The only builder of the DAT_RETURN values that the registry itself answers with.
#pragma once

#include <new>

#include "libdat/registry/entry/abi.h"

namespace softdat::registry {

inline DAT_RETURN refuse(DAT_RETURN_TYPE type, DAT_RETURN_SUBTYPE subtype = DAT_NO_SUBTYPE) {
  return static_cast<DAT_RETURN>(DAT_CLASS_ERROR) | static_cast<DAT_RETURN>(type) | static_cast<DAT_RETURN>(subtype);
}

inline DAT_RETURN refuse_handle(DAT_RETURN_SUBTYPE subtype) {
  return refuse(DAT_INVALID_HANDLE, subtype);
}

// Runs an entry point that allocates; want of memory becomes its answer.
template <typename Body>
DAT_RETURN answer_with(Body body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return refuse(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
  }
}

}  // namespace softdat::registry
