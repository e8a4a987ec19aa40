// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/sanitize/ledger_objects.h"

#include <cstdint>
#include <mutex>
#include <string>

#include "libdat/object/event_dispatcher.h"
#include "libdat/object/handle_table.h"
#include "libdat/sanitize/finding.h"
#include "libdat/sanitize/marks.h"

namespace softdat::sanitize {

void LedgerObjects::on_made(Handle handle, Kind kind, Handle ia, const Site& site) {
  std::int32_t qlen = 0;
  if (kind == Kind::kEvd) {
    if (const auto evd = object::pin_handle<object::EventDispatcher>(handle)) qlen = evd->queue().length();
  }
  queues_.drop(handle);  // of an object that had the handle before
  const std::lock_guard lock(state_.mutex);
  state_.objects[handle] = {.kind = kind, .ia = ia, .made = site, .ended = {}};
  if (kind == Kind::kEvd) {
    state_.evds[handle] = EvdRecord{};
    state_.evds[handle].qlen = qlen;
  }
}

void LedgerObjects::on_freed(Handle handle, const Site& site) {
  queues_.drop(handle);
  const std::lock_guard lock(state_.mutex);
  const auto found = state_.objects.find(handle);
  if (found == state_.objects.end()) return;
  ObjectRecord& object = found->second;
  object.ended = site;
  if (object.kind != Kind::kCr) state_.freed[object.ia] |= 1U << static_cast<unsigned>(object.kind);
  if (object.kind == Kind::kEvd) state_.evds.erase(handle);
  if (object.kind == Kind::kRmr) state_.windows.erase(handle);
}

void LedgerObjects::on_refused_handles(std::span<const Handle> handles, const Site& site) {
  const std::lock_guard lock(state_.mutex);
  for (const Handle handle : handles) {
    if (handle == nullptr) continue;
    if (handle == state_.void_handle || reinterpret_cast<std::uintptr_t>(handle) == kVoidLong) {
      report({Rule::kVoidField, "The handle is the value of an event's field that is void.", {{"used", site}}});
      continue;
    }
    const auto found = state_.objects.find(handle);
    if (found == state_.objects.end() || found->second.ended.call == nullptr) continue;
    // Objects that the provider makes itself, as a tentative EP, may have the handle now.
    if (object::HandleTable::instance().pin_any(handle)) continue;
    const ObjectRecord& object = found->second;
    report(
        {Rule::kStaleHandle,
         std::string("The handle is that of the ") + kind_text(object.kind) + ' ' + hex(handle) + ", which has ended.",
         {{"made", object.made}, {"ended", object.ended}, {"used", site}}});
  }
}

void LedgerObjects::set_void_handle(Handle handle) {
  const std::lock_guard lock(state_.mutex);
  state_.void_handle = handle;
}

}  // namespace softdat::sanitize
