// SPDX-License-Identifier: BSD-2-Clause
// Asking an IA for its attributes without opening it: behind the curtain it is opened, without an
// asynchronous EVD and under a handle that no other call is meant for.
#include "libdat/api/answer.h"

#if SOFTDAT_ABI == 20

#include "libdat/api/consumer_handle.h"
#include "libdat/api/extension.h"
#include "libdat/api/ia_attributes.h"
#include "libdat/api/opening.h"
#include "libdat/object/interface_adapter.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

using object::AdapterAttributes;
using object::InterfaceAdapter;

Status open_for_query(const RegisteredIa& registered, Handle& ia) {
  const auto device = api::open_device(registered.name, registered.instance_data);
  if (!device.ok()) return device.reason();
  Handle no_evd = nullptr;
  return InterfaceAdapter::open({.name = registered.name,
                                 .device = device.value(),
                                 .provider_table = &registered.table,
                                 .async_is_elsewhere = true,
                                 .is_query = true},
                                ia, no_evd);
}

// The operation names an adapter, and says nothing of thread safety.
const RegisteredIa* find_under_either_safety(const char* name) {
  const RegisteredIa* const found = find_registered_ia(name, false);
  return found != nullptr ? found : find_registered_ia(name, true);
}

}  // namespace

DAT_RETURN open_query(DAT_HANDLE name, va_list arguments) {
  auto* const ia_handle = va_arg(arguments, DAT_HANDLE*);
  const auto ia_mask = va_arg(arguments, DAT_IA_ATTR_MASK);
  auto* const ia_attr = va_arg(arguments, DAT_IA_ATTR*);
  const auto provider_mask = va_arg(arguments, DAT_PROVIDER_ATTR_MASK);
  auto* const provider_attr = va_arg(arguments, DAT_PROVIDER_ATTR*);
  if (name == nullptr) return refuse_argument(3);
  if (ia_handle == nullptr) return refuse_argument(4);
  if (has_unknown_mask_bits(ia_mask, DAT_IA_FIELD_ALL)) return refuse_argument(5);
  if (ia_mask != 0 && ia_attr == nullptr) return refuse_argument(6);
  if (has_unknown_mask_bits(provider_mask, DAT_PROVIDER_FIELD_ALL)) return refuse_argument(7);
  if (provider_mask != 0 && provider_attr == nullptr) return refuse_argument(8);
  const RegisteredIa* const registered = find_under_either_safety(static_cast<const char*>(name));
  if (registered == nullptr) return return_code(object::provider_not_found(StatusDetail::kNameNotRegistered));
  return answer_of([&] {
    Handle opened = nullptr;
    if (const Status status = open_for_query(*registered, opened); !status.ok()) return status;
    const auto ia = pin_handle<InterfaceAdapter>(opened);
    if (!ia) return object::invalid_handle(StatusDetail::kInvalidHandleIa);
    const AdapterAttributes adapter = ia->attributes();
    if (ia_mask != 0) write_ia_attributes(adapter, *ia_attr);
    if (provider_mask != 0) write_provider_attributes(*registered, adapter, *provider_attr);
    *ia_handle = opened;
    return object::kOk;
  });
}

DAT_RETURN close_query(DAT_HANDLE handle, va_list) {
  auto ia = pin_handle<InterfaceAdapter>(handle);
  if (!ia || !ia->is_query()) return refuse_handle(StatusDetail::kInvalidHandle1);
  return answer_of([&] { return InterfaceAdapter::close(std::move(ia), false); });
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE

#endif
