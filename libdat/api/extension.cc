// SPDX-License-Identifier: BSD-2-Clause
// The operations that DAT 2.0 leaves to extensions. None is offered yet, and dat_ia_query says so.
#include "libdat/api/answer.h"
#include "libdat/api/entry_points.h"

#if SOFTDAT_ABI == 20

namespace softdat::SOFTDAT_ABI_NAMESPACE {

// Operations that open an extension come with an IA's name in place of a handle.
DAT_RETURN handle_extendedop(DAT_HANDLE handle, DAT_EXTENDED_OP operation, va_list) {
  const auto any = object::HandleTable::instance().pin_any(handle);
  if (!any && (operation & DAT_OPEN_EXTENSION_BASE) == 0) return refuse_handle(StatusDetail::kInvalidHandle1);
  return refuse_function();
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE

#endif
