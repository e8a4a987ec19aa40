// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/api/answer.h"
#include "libdat/api/consumer_handle.h"
#include "libdat/api/entry_points.h"
#include "libdat/object/endpoint.h"
#include "libdat/object/event_dispatcher.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/object/reserved_service_point.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {

using object::Endpoint;
using object::EventDispatcher;
using object::InterfaceAdapter;
using object::ReservedServicePoint;
using object::ReservedServicePointParameters;

// A null endpoint asks for one of the provider's.
DAT_RETURN rsp_create(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL conn_qual, DAT_EP_HANDLE ep_handle,
                      DAT_EVD_HANDLE evd_handle, DAT_RSP_HANDLE* rsp_handle) {
  const auto ia = pin_handle<InterfaceAdapter>(ia_handle);
  if (!ia) return refuse_handle(StatusDetail::kInvalidHandleIa);
  const auto ep = pin_handle<Endpoint>(ep_handle);
  if (ep_handle != nullptr && !ep) return refuse_handle(StatusDetail::kInvalidHandleEp);
  const auto evd = pin_handle<EventDispatcher>(evd_handle);
  if (!evd) return refuse_handle(StatusDetail::kInvalidHandleEvdCr);
  if (rsp_handle == nullptr) return refuse_argument(5);
  return answer_of([&] { return ReservedServicePoint::create(*ia, conn_qual, ep.get(), *evd, *rsp_handle); });
}

DAT_RETURN rsp_query(DAT_RSP_HANDLE rsp_handle, DAT_RSP_PARAM_MASK mask, DAT_RSP_PARAM* parameters) {
  const auto rsp = pin_handle<ReservedServicePoint>(rsp_handle);
  if (!rsp) return refuse_handle(StatusDetail::kInvalidHandleRsp);
  if (has_unknown_bits(mask, DAT_RSP_FIELD_ALL)) return refuse_argument(2);
  if (parameters == nullptr) return refuse_argument(3);
  const ReservedServicePointParameters known = rsp->query();
  *parameters = {.ia_handle = consumer_ia_handle(known.ia),
                 .conn_qual = known.conn_qual,
                 .evd_handle = known.evd,
                 .ep_handle = known.ep};
  return DAT_SUCCESS;
}

DAT_RETURN rsp_free(DAT_RSP_HANDLE rsp_handle) {
  auto rsp = pin_handle<ReservedServicePoint>(rsp_handle);
  if (!rsp) return refuse_handle(StatusDetail::kInvalidHandleRsp);
  return return_code(ReservedServicePoint::free(std::move(rsp)));
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
