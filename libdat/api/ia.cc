// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>

#include "libdat/api/answer.h"
#include "libdat/api/consumer_handle.h"
#include "libdat/api/entry_points.h"
#include "libdat/api/ia_attributes.h"
#include "libdat/api/opening.h"
#include "libdat/object/event_dispatcher.h"
#include "libdat/object/interface_adapter.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

using object::AdapterAttributes;
using object::EventDispatcher;
using object::InterfaceAdapter;

// The asynchronous EVD of a consumer that has none here is in nobody's reach.
const DAT_EVD_HANDLE kAsyncExists = DAT_EVD_ASYNC_EXISTS;
const DAT_EVD_HANDLE kOutOfScope = DAT_EVD_OUT_OF_SCOPE;

Status open(const RegisteredIa& registered, DAT_COUNT qlen, DAT_EVD_HANDLE async_evd, Handle& ia_handle,
            Handle& async_handle) {
  const bool is_elsewhere = async_evd == kAsyncExists;
  const bool is_given = async_evd != nullptr && !is_elsewhere;
  // Null for the two reserved values as well; is_given tells them apart.
  const auto given = pin_handle<EventDispatcher>(async_evd);
  if (is_given && !given) return object::invalid_handle(StatusDetail::kInvalidHandleEvdAsync);
  const auto device = api::open_device(registered.name, registered.instance_data);
  if (!device.ok()) return device.reason();
  return InterfaceAdapter::open({.name = registered.name,
                                 .device = device.value(),
                                 .provider_table = &registered.table,
                                 .async_qlen = std::max(qlen, 1),
                                 .async_evd = is_given ? given.get() : nullptr,
                                 .async_is_elsewhere = is_elsewhere},
                                ia_handle, async_handle);
}

DAT_RETURN open_ia(bool is_thread_safe, const char* name, DAT_COUNT qlen, DAT_EVD_HANDLE* async_evd_handle,
                   DAT_IA_HANDLE* ia_handle) {
  if (name == nullptr) return refuse_argument(1);
  // The length of one that is there already is not asked for.
  const bool is_to_be_made = async_evd_handle == nullptr || *async_evd_handle == nullptr;
  if (qlen < 0 && is_to_be_made) return refuse_argument(2);
  if (async_evd_handle == nullptr) return refuse_argument(3);
  if (ia_handle == nullptr) return refuse_argument(4);
  const RegisteredIa* registered = find_registered_ia(name, is_thread_safe);
  if (registered == nullptr) return return_code(object::provider_not_found(StatusDetail::kNameNotRegistered));
  Handle ia = nullptr;
  Handle async_evd = nullptr;
  const DAT_RETURN answer = answer_of([&] { return open(*registered, qlen, *async_evd_handle, ia, async_evd); });
  if (answer != DAT_SUCCESS) return answer;
  *async_evd_handle = async_evd == nullptr ? kOutOfScope : async_evd;
  *ia_handle = ia;
  return DAT_SUCCESS;
}

}  // namespace

DAT_RETURN ia_open_thread_safe(const DAT_NAME_PTR name, DAT_COUNT qlen, DAT_EVD_HANDLE* async_evd_handle,
                               DAT_IA_HANDLE* ia_handle) {
  return open_ia(true, name, qlen, async_evd_handle, ia_handle);
}

DAT_RETURN ia_open_nonthread_safe(const DAT_NAME_PTR name, DAT_COUNT qlen, DAT_EVD_HANDLE* async_evd_handle,
                                  DAT_IA_HANDLE* ia_handle) {
  return open_ia(false, name, qlen, async_evd_handle, ia_handle);
}

// Every output may be null when nothing is asked of it; registries do that.
DAT_RETURN ia_query(DAT_IA_HANDLE ia_handle, DAT_EVD_HANDLE* async_evd_handle, DAT_IA_ATTR_MASK ia_mask,
                    DAT_IA_ATTR* ia_attr, DAT_PROVIDER_ATTR_MASK provider_mask, DAT_PROVIDER_ATTR* provider_attr) {
  const auto ia = pin_handle<InterfaceAdapter>(ia_handle);
  if (!ia) return refuse_handle(StatusDetail::kInvalidHandleIa);
  if (has_unknown_mask_bits(ia_mask, DAT_IA_FIELD_ALL)) return refuse_argument(3);
  if (ia_mask != 0 && ia_attr == nullptr) return refuse_argument(4);
  if (has_unknown_mask_bits(provider_mask, DAT_PROVIDER_FIELD_ALL)) return refuse_argument(5);
  if (provider_mask != 0 && provider_attr == nullptr) return refuse_argument(6);
  return answer_of([&] {
    const AdapterAttributes adapter = ia->attributes();
    const Handle async_evd = ia->async_evd();
    if (async_evd_handle != nullptr) *async_evd_handle = async_evd == nullptr ? kOutOfScope : async_evd;
    if (ia_mask != 0) write_ia_attributes(adapter, *ia_attr);
    if (provider_mask != 0) write_provider_attributes(registered_ia_of_handle(ia_handle), adapter, *provider_attr);
    return object::kOk;
  });
}

DAT_RETURN ia_close(DAT_IA_HANDLE ia_handle, DAT_CLOSE_FLAGS flags) {
  auto ia = pin_handle<InterfaceAdapter>(ia_handle);
  if (!ia) return refuse_handle(StatusDetail::kInvalidHandleIa);
  if (has_unknown_bits(flags, DAT_CLOSE_GRACEFUL_FLAG)) return refuse_argument(2);
  const bool is_graceful = number_of(flags) == DAT_CLOSE_GRACEFUL_FLAG;
  return answer_of([&] { return InterfaceAdapter::close(std::move(ia), is_graceful); });
}

#if SOFTDAT_ABI == 20

// Nothing here backs up anything else.
DAT_RETURN ia_ha_related(DAT_IA_HANDLE ia_handle, const DAT_NAME_PTR provider, DAT_BOOLEAN* answer) {
  const auto ia = pin_handle<InterfaceAdapter>(ia_handle);
  if (!ia) return refuse_handle(StatusDetail::kInvalidHandleIa);
  if (provider == nullptr) return refuse_argument(2);
  if (answer == nullptr) return refuse_argument(3);
  *answer = DAT_FALSE;
  return DAT_SUCCESS;
}

#endif

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
