// SPDX-License-Identifier: BSD-2-Clause
// How an entry point finds its provider: check the handle, pick the slot, call. Nothing of the
// other arguments is touched here; they are the provider's to check.
#pragma once

#include "base/assert.h"
#include "base/lock_order.h"
#include "base/words.h"
#include "libdat/registry/entry/abi.h"
#include "libdat/registry/entry/process.h"
#include "libdat/registry/entry/status.h"

namespace softdat::registry {

// Calls one slot of a provider's table. A slot the provider left empty is a function it lacks.
template <typename Slot, typename... Arguments>
DAT_RETURN call_slot(const void* table, Slot DAT_PROVIDER::*slot, Arguments... arguments) {
  SOFTDAT_DEBUG_CHECK(table != nullptr, "a provider that is called has a table");
  base::require_no_lock();  // the provider, and the agents it calls, may call the registry
  const Slot function = static_cast<const DAT_PROVIDER*>(table)->*slot;
  if (function == nullptr) return refuse(DAT_NOT_IMPLEMENTED);
  return function(arguments...);
}

// Answers a handle that is none. Where a person wants words (SOFTDAT_LOG), our provider is asked, which knows what the
// handle was, and says so.
template <typename Slot, typename... Arguments>
[[gnu::noinline, gnu::cold]] DAT_RETURN refuse_in_words(DAT_HANDLE handle, DAT_RETURN_SUBTYPE subtype,
                                                        Slot DAT_PROVIDER::*slot, Arguments... arguments) {
  const void* const table = base::are_words_wanted() ? process_tables().teller() : nullptr;
  // It succeeds only if another thread has just been given this handle.
  if (table != nullptr && call_slot(table, slot, handle, arguments...) == DAT_SUCCESS) return DAT_SUCCESS;
  return refuse_handle(subtype);
}

// A handle of which the first look said nothing. Apart, so that an entry point has nothing to save for its sake.
template <typename Slot, typename... Arguments>
[[gnu::noinline, gnu::cold]] DAT_RETURN dispatch_slowly(DAT_HANDLE handle, DAT_RETURN_SUBTYPE subtype,
                                                        Slot DAT_PROVIDER::*slot, Arguments... arguments) {
  const void* table = process_tables().find(handle);
  if (table == nullptr) return refuse_in_words(handle, subtype, slot, arguments...);
  return call_slot(table, slot, handle, arguments...);
}

// For calls whose first argument is any object but an IA. `subtype` is the answer's second half
// when the handle is no handle of an open provider.
template <typename Slot, typename... Arguments>
[[gnu::always_inline]] inline DAT_RETURN dispatch(DAT_HANDLE handle, DAT_RETURN_SUBTYPE subtype,
                                                  Slot DAT_PROVIDER::*slot, Arguments... arguments) {
  if (const void* table = process_tables().find_at_once(handle)) [[likely]] {
    const Slot function = static_cast<const DAT_PROVIDER*>(table)->*slot;
    if (function != nullptr) [[likely]]
      return function(handle, arguments...);
  }
  return dispatch_slowly(handle, subtype, slot, arguments...);
}

// The same for calls after which the handle may be no handle any more.
template <typename Slot, typename... Arguments>
DAT_RETURN dispatch_ending(DAT_HANDLE handle, DAT_RETURN_SUBTYPE subtype, Slot DAT_PROVIDER::*slot,
                           Arguments... arguments) {
  process_tables().forget_readable();
  const DAT_RETURN status = dispatch(handle, subtype, slot, arguments...);
  process_tables().forget_readable();
  return status;
}

// For calls whose first argument is an IA. The provider sees its own handle.
template <typename Slot, typename... Arguments>
DAT_RETURN dispatch_ia(DAT_IA_HANDLE ia, Slot DAT_PROVIDER::*slot, Arguments... arguments) {
  const auto found = process_ias().find(ia);
  if (!found) return refuse_in_words(ia, DAT_INVALID_HANDLE_IA, slot, arguments...);
  const DAT_IA_HANDLE object = found->object;
  return call_slot(found->table, slot, object, arguments...);
}

// For calls that take an object of any kind, IAs included. Null when the handle is invalid.
struct AnyObject {
  DAT_HANDLE object = nullptr;
  const void* table = nullptr;
};
AnyObject find_any_object(DAT_HANDLE handle);

}  // namespace softdat::registry
