// SPDX-License-Identifier: BSD-2-Clause
// The calls that work on a handle of any kind: consumer context and handle type.
#include "libdat/registry/entry/dispatch.h"

namespace softdat::registry {

AnyObject find_any_object(DAT_HANDLE handle) {
  // Only integers can be IA handles here that are no addresses; asking for those alone keeps the
  // lock of the IA table out of the way of other objects.
  constexpr std::uintptr_t kLargestInteger = 65535;
  if (reinterpret_cast<std::uintptr_t>(handle) <= kLargestInteger) {
    const auto ia = process_ias().find(handle);
    return ia ? AnyObject{ia->object, ia->table} : AnyObject{};
  }
  const void* table = process_tables().find(handle);
  return table == nullptr ? AnyObject{} : AnyObject{handle, table};
}

namespace {

template <typename Slot, typename... Arguments>
DAT_RETURN dispatch_any(DAT_HANDLE handle, Slot DAT_PROVIDER::*slot, Arguments... arguments) {
  const AnyObject found = find_any_object(handle);
  if (found.table == nullptr) return refuse_in_words(handle, DAT_INVALID_HANDLE1, slot, arguments...);
  return call_slot(found.table, slot, found.object, arguments...);
}

}  // namespace
}  // namespace softdat::registry

using softdat::registry::dispatch_any;

extern "C" {

DAT_RETURN dat_set_consumer_context(DAT_HANDLE handle, DAT_CONTEXT context) {
  return dispatch_any(handle, &DAT_PROVIDER::set_consumer_context_func, context);
}

DAT_RETURN dat_get_consumer_context(DAT_HANDLE handle, DAT_CONTEXT* context) {
  return dispatch_any(handle, &DAT_PROVIDER::get_consumer_context_func, context);
}

DAT_RETURN dat_get_handle_type(DAT_HANDLE handle, DAT_HANDLE_TYPE* type) {
  return dispatch_any(handle, &DAT_PROVIDER::get_handle_type_func, type);
}

}  // extern "C"
