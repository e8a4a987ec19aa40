// SPDX-License-Identifier: BSD-2-Clause
// Common service points come with a later issue: their calls check and then say so. DAT 1.2 has none.
#include "libdat/api/answer.h"
#include "libdat/api/entry_points.h"
#include "libdat/object/event_dispatcher.h"
#include "libdat/object/interface_adapter.h"

#if SOFTDAT_ABI == 20

namespace softdat::SOFTDAT_ABI_NAMESPACE {

using object::EventDispatcher;
using object::InterfaceAdapter;
using object::Kind;

DAT_RETURN csp_create(DAT_IA_HANDLE ia_handle, DAT_COMM* communicator, DAT_IA_ADDRESS_PTR address,
                      DAT_EVD_HANDLE evd_handle, DAT_CSP_HANDLE* csp_handle) {
  const auto ia = pin_handle<InterfaceAdapter>(ia_handle);
  if (!ia) return refuse_handle(StatusDetail::kInvalidHandleIa);
  const auto evd = pin_handle<EventDispatcher>(evd_handle);
  if (!evd) return refuse_handle(StatusDetail::kInvalidHandleEvdCr);
  if (communicator == nullptr) return refuse_argument(2);
  if (address == nullptr) return refuse_argument(3);
  if (csp_handle == nullptr) return refuse_argument(5);
  return refuse_model();
}

DAT_RETURN csp_query(DAT_CSP_HANDLE csp_handle, DAT_CSP_PARAM_MASK mask, DAT_CSP_PARAM* parameters) {
  if (!is_handle_of(csp_handle, Kind::kCsp)) return refuse_handle(StatusDetail::kInvalidHandleCsp);
  if (has_unknown_bits(mask, DAT_CSP_FIELD_ALL)) return refuse_argument(2);
  if (parameters == nullptr) return refuse_argument(3);
  return refuse_model();
}

DAT_RETURN csp_free(DAT_CSP_HANDLE csp_handle) {
  if (!is_handle_of(csp_handle, Kind::kCsp)) return refuse_handle(StatusDetail::kInvalidHandleCsp);
  return refuse_model();
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE

#endif
