// SPDX-License-Identifier: BSD-2-Clause
// Spells a Status as the DAT_RETURN of this API. Nothing else composes one.
#pragma once

#include "libdat/api/abi.h"
#include "libdat/object/status.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {

// DAT 1.2 has neither the CSP handle nor the SRQ shutdown state, so everything that 2.0 numbers
// after them is smaller there. Neither can be answered by a DAT 1.2 function.
constexpr DAT_RETURN subtype_of(object::StatusDetail detail) {
  const auto number = static_cast<DAT_RETURN>(detail);
  if (kIsAbi20) return number;
  return number - (detail >= object::StatusDetail::kInvalidHandleCsp ? 1u : 0u) -
         (detail >= object::StatusDetail::kInvalidStateSrqShutdown ? 1u : 0u);
}

constexpr DAT_RETURN return_code(object::Status status) {
  if (status.ok()) return DAT_SUCCESS;
  const DAT_RETURN type = status.type == object::StatusType::kNotImplemented
                              ? static_cast<DAT_RETURN>(DAT_NOT_IMPLEMENTED)
                              : static_cast<DAT_RETURN>(status.type) << 16;
  const DAT_RETURN error_class = status.bare ? 0u : static_cast<DAT_RETURN>(DAT_CLASS_ERROR);
  return error_class | type | subtype_of(status.detail);
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
