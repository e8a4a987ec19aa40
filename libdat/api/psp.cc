// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/api/answer.h"
#include "libdat/api/consumer_handle.h"
#include "libdat/api/entry_points.h"
#include "libdat/object/event_dispatcher.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/object/service_point.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

using object::EventDispatcher;
using object::InterfaceAdapter;
using object::ServicePoint;
using object::ServicePointParameters;

// DAT_PSP_PROVIDER_FLAG: each request comes with an EP that the provider has made.
bool is_provider_making(const DAT_PSP_FLAGS& flags) {
  return number_of(flags) == DAT_PSP_PROVIDER_FLAG;
}

}  // namespace

DAT_RETURN psp_create(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL conn_qual, DAT_EVD_HANDLE evd_handle, DAT_PSP_FLAGS flags,
                      DAT_PSP_HANDLE* psp_handle) {
  const auto ia = pin_handle<InterfaceAdapter>(ia_handle);
  if (!ia) return refuse_handle(StatusDetail::kInvalidHandleIa);
  const auto evd = pin_handle<EventDispatcher>(evd_handle);
  if (!evd) return refuse_handle(StatusDetail::kInvalidHandleEvdCr);
  if (has_unknown_bits(flags, DAT_PSP_PROVIDER_FLAG)) return refuse_argument(4);
  if (psp_handle == nullptr) return refuse_argument(5);
  return answer_of([&] { return ServicePoint::create(*ia, conn_qual, *evd, is_provider_making(flags), *psp_handle); });
}

DAT_RETURN psp_create_any(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL* conn_qual, DAT_EVD_HANDLE evd_handle,
                          DAT_PSP_FLAGS flags, DAT_PSP_HANDLE* psp_handle) {
  const auto ia = pin_handle<InterfaceAdapter>(ia_handle);
  if (!ia) return refuse_handle(StatusDetail::kInvalidHandleIa);
  const auto evd = pin_handle<EventDispatcher>(evd_handle);
  if (!evd) return refuse_handle(StatusDetail::kInvalidHandleEvdCr);
  if (conn_qual == nullptr) return refuse_argument(2);
  if (has_unknown_bits(flags, DAT_PSP_PROVIDER_FLAG)) return refuse_argument(4);
  if (psp_handle == nullptr) return refuse_argument(5);
  return answer_of(
      [&] { return ServicePoint::create_any(*ia, *conn_qual, *evd, is_provider_making(flags), *psp_handle); });
}

DAT_RETURN psp_query(DAT_PSP_HANDLE psp_handle, DAT_PSP_PARAM_MASK mask, DAT_PSP_PARAM* parameters) {
  const auto psp = pin_handle<ServicePoint>(psp_handle);
  if (!psp) return refuse_handle(StatusDetail::kInvalidHandlePsp);
  if (has_unknown_bits(mask, DAT_PSP_FIELD_ALL)) return refuse_argument(2);
  if (parameters == nullptr) return refuse_argument(3);
  const ServicePointParameters known = psp->query();
  *parameters = {.ia_handle = consumer_ia_handle(known.ia),
                 .conn_qual = known.conn_qual,
                 .evd_handle = known.evd,
                 .psp_flags = known.provider_makes_endpoints ? DAT_PSP_PROVIDER_FLAG : DAT_PSP_CONSUMER_FLAG};
  return DAT_SUCCESS;
}

DAT_RETURN psp_free(DAT_PSP_HANDLE psp_handle) {
  auto psp = pin_handle<ServicePoint>(psp_handle);
  if (!psp) return refuse_handle(StatusDetail::kInvalidHandlePsp);
  return return_code(ServicePoint::free(std::move(psp)));
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
