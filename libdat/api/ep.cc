// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/api/answer.h"
#include "libdat/api/entry_points.h"
#include "libdat/api/ep_conversion.h"
#include "libdat/object/endpoint.h"
#include "libdat/object/event_dispatcher.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/object/protection_zone.h"
#include "libdat/object/shared_receive_queue.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

using object::Endpoint;
using object::EndpointAttributes;
using object::EndpointConfig;
using object::EndpointStatus;
using object::EventDispatcher;
using object::InterfaceAdapter;
using object::Pin;
using object::ProtectionZone;
using object::ReceiveUse;
using object::SharedReceiveQueue;

// The objects that an endpoint is created with, held for the call.
struct Parts {
  Pin<InterfaceAdapter> ia;
  Pin<ProtectionZone> pz;
  Pin<EventDispatcher> recv_evd;
  Pin<EventDispatcher> request_evd;
  Pin<EventDispatcher> connect_evd;
};

// Null asks for no EVD and is no mistake.
bool pin_evd(DAT_EVD_HANDLE handle, Pin<EventDispatcher>& evd) {
  evd = pin_handle<EventDispatcher>(handle);
  return handle == nullptr || evd;
}

Status pin_parts(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE recv_evd, DAT_EVD_HANDLE request_evd,
                 DAT_EVD_HANDLE connect_evd, Parts& parts) {
  parts.ia = pin_handle<InterfaceAdapter>(ia);
  if (!parts.ia) return object::invalid_handle(StatusDetail::kInvalidHandleIa);
  parts.pz = pin_handle<ProtectionZone>(pz);
  if (!parts.pz) return object::invalid_handle(StatusDetail::kInvalidHandlePz);
  if (!pin_evd(recv_evd, parts.recv_evd)) return object::invalid_handle(StatusDetail::kInvalidHandleEvdRecv);
  if (!pin_evd(request_evd, parts.request_evd)) return object::invalid_handle(StatusDetail::kInvalidHandleEvdRequest);
  if (!pin_evd(connect_evd, parts.connect_evd)) return object::invalid_handle(StatusDetail::kInvalidHandleEvdConn);
  return object::kOk;
}

}  // namespace

DAT_RETURN ep_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle, DAT_EVD_HANDLE recv_evd,
                     DAT_EVD_HANDLE request_evd, DAT_EVD_HANDLE connect_evd, const DAT_EP_ATTR* attributes,
                     DAT_EP_HANDLE* ep_handle) {
  Parts parts;
  const Status pinned = pin_parts(ia_handle, pz_handle, recv_evd, request_evd, connect_evd, parts);
  if (!pinned.ok()) return return_code(pinned);
  EndpointAttributes wanted;
  if (attributes != nullptr) {
    // The adapter knows no named attributes, so none may be asked for.
    if (has_named_attributes(*attributes, DAT_EP_FIELD_EP_ATTR_ALL)) return refuse_argument(6);
    read_attributes(*attributes, DAT_EP_FIELD_EP_ATTR_ALL, wanted);
  }
  if (ep_handle == nullptr) return refuse_argument(7);
  const EndpointConfig config{.pz = parts.pz.get(),
                              .recv_evd = parts.recv_evd.get(),
                              .request_evd = parts.request_evd.get(),
                              .connect_evd = parts.connect_evd.get(),
                              .attributes = attributes == nullptr ? nullptr : &wanted};
  return answer_of([&] { return Endpoint::create(*parts.ia, config, *ep_handle); });
}

DAT_RETURN ep_create_with_srq(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle, DAT_EVD_HANDLE recv_evd,
                              DAT_EVD_HANDLE request_evd, DAT_EVD_HANDLE connect_evd, DAT_SRQ_HANDLE srq_handle,
                              const DAT_EP_ATTR* attributes, DAT_EP_HANDLE* ep_handle) {
  Parts parts;
  const Status pinned = pin_parts(ia_handle, pz_handle, recv_evd, request_evd, connect_evd, parts);
  if (!pinned.ok()) return return_code(pinned);
  const auto srq = pin_handle<SharedReceiveQueue>(srq_handle);
  if (!srq) return refuse_handle(StatusDetail::kInvalidHandleSrq);
  // Other than dat_ep_create(3DAT), this call has no defaults.
  if (attributes == nullptr) return refuse_argument(7);
  if (has_named_attributes(*attributes, DAT_EP_FIELD_EP_ATTR_ALL)) return refuse_argument(7);
  EndpointAttributes wanted;
  read_attributes(*attributes, DAT_EP_FIELD_EP_ATTR_ALL, wanted);
  if (ep_handle == nullptr) return refuse_argument(8);
  const EndpointConfig config{.pz = parts.pz.get(),
                              .recv_evd = parts.recv_evd.get(),
                              .request_evd = parts.request_evd.get(),
                              .connect_evd = parts.connect_evd.get(),
                              .attributes = &wanted,
                              .srq = srq.get()};
  return answer_of([&] { return Endpoint::create(*parts.ia, config, *ep_handle); });
}

DAT_RETURN ep_query(DAT_EP_HANDLE ep_handle, DAT_EP_PARAM_MASK mask, DAT_EP_PARAM* parameters) {
  const auto ep = pin_handle<Endpoint>(ep_handle);
  if (!ep) return refuse_handle(StatusDetail::kInvalidHandleEp);
  if (has_unknown_mask_bits(mask, DAT_EP_FIELD_ALL)) return refuse_argument(2);
  if (parameters == nullptr) return refuse_argument(3);
  write_parameters(ep->query(), *parameters);
  return DAT_SUCCESS;
}

// Every output may be null: programs ask for what they want to know.
DAT_RETURN ep_get_status(DAT_EP_HANDLE ep_handle, DAT_EP_STATE* state, DAT_BOOLEAN* recv_idle,
                         DAT_BOOLEAN* request_idle) {
  const auto ep = pin_handle<Endpoint>(ep_handle);
  if (!ep) return refuse_handle(StatusDetail::kInvalidHandleEp);
  const EndpointStatus status = ep->status();
  if (state != nullptr) *state = static_cast<DAT_EP_STATE>(status.state);
  if (recv_idle != nullptr) *recv_idle = status.is_recv_idle ? DAT_TRUE : DAT_FALSE;
  if (request_idle != nullptr) *request_idle = status.is_request_idle ? DAT_TRUE : DAT_FALSE;
  return DAT_SUCCESS;
}

DAT_RETURN ep_reset(DAT_EP_HANDLE ep_handle) {
  const auto ep = pin_handle<Endpoint>(ep_handle);
  if (!ep) return refuse_handle(StatusDetail::kInvalidHandleEp);
  return answer_of([&] { return ep->connection().reset(); });
}

DAT_RETURN ep_free(DAT_EP_HANDLE ep_handle) {
  auto ep = pin_handle<Endpoint>(ep_handle);
  if (!ep) return refuse_handle(StatusDetail::kInvalidHandleEp);
  return answer_of([&] { return Endpoint::free(std::move(ep)); });
}

// Either output may be null.
DAT_RETURN ep_recv_query(DAT_EP_HANDLE ep_handle, DAT_COUNT* allocated, DAT_COUNT* span) {
  const auto ep = pin_handle<Endpoint>(ep_handle);
  if (!ep) return refuse_handle(StatusDetail::kInvalidHandleEp);
  const ReceiveUse use = ep->receive_use();
  if (allocated != nullptr) *allocated = use.allocated;
  if (span != nullptr) *span = use.span;
  return DAT_SUCCESS;
}

DAT_RETURN ep_set_watermark(DAT_EP_HANDLE ep_handle, DAT_COUNT soft_high_watermark, DAT_COUNT hard_high_watermark) {
  const auto ep = pin_handle<Endpoint>(ep_handle);
  if (!ep) return refuse_handle(StatusDetail::kInvalidHandleEp);
  static_assert(object::kNoWatermark == DAT_WATERMARK_INFINITE);
  return answer_of([&] { return ep->settings().set_watermarks(soft_high_watermark, hard_high_watermark); });
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
