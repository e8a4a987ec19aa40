// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/sanitize/ledger_closes.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "libdat/object/event_dispatcher.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/sanitize/finding.h"
#include "libdat/sanitize/ledger_completions.h"

namespace softdat::sanitize {
namespace {

// DAT_SRQ_LOW_WATERMARK_EVENT, DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT
constexpr std::int32_t kWatermark = 2;

// How the adapter was closed while objects were left.
constexpr const char* kRefused = "left when the adapter was to be closed gracefully, which was refused.";
constexpr const char* kGracefully = "left when the adapter was closed gracefully.";
constexpr const char* kAbruptly = "left when the adapter was closed abruptly, although the program frees others.";

// The events of an EVD that no stream of completions feeds. They stay there.
std::vector<object::Event> look_at_events(object::EventDispatcher& evd) {
  std::vector<object::Event> events;
  object::Event event;
  events.reserve(static_cast<std::size_t>(evd.queue().size()));
  while (events.size() < events.capacity() && evd.dequeue(event).ok()) events.push_back(event);
  for (const object::Event& each : events) evd.post(each);
  return events;
}

}  // namespace

void LedgerCloses::before_close(Handle ia, const Site& site) {
  Handle async = nullptr;
  if (const auto adapter = object::pin_handle<object::InterfaceAdapter>(ia)) async = adapter->async_evd();
  const auto evd = object::pin_handle<object::EventDispatcher>(async);
  // Without the ledger's lock: the adapter may make progress.
  const std::vector<object::Event> left = evd ? look_at_events(*evd) : std::vector<object::Event>();
  const std::lock_guard lock(state_.mutex);
  const auto unread = std::count_if(left.begin(), left.end(), [&](const auto& each) { return is_error_locked(each); });
  if (unread == 0) return;
  report({Rule::kAsyncUnread,
          std::to_string(unread) + (unread == 1 ? " asynchronous error was" : " asynchronous errors were") +
              " not dequeued before the adapter was closed.",
          {{"opened", state_.objects[ia].made}, {"closed", site}}});
}

void LedgerCloses::before_abrupt_close(Handle ia, const Site& site) {
  {
    // The steps below take the lock themselves.
    const std::lock_guard lock(state_.mutex);
    report_leaks_locked(ia, kAbruptly, site);
  }
  for (const Handle ep : queues_.of(ia)) endpoints_.before_free(ep, site);
  // Before the EVDs end: their completions tell which requests have succeeded.
  for (const Handle evd : evds_of(ia)) completions_.take_left(evd);
}

std::vector<Handle> LedgerCloses::evds_of(Handle ia) {
  const std::lock_guard lock(state_.mutex);
  std::vector<Handle> evds;
  for (const auto& [handle, evd] : state_.evds) {
    const auto object = state_.objects.find(handle);
    if (object != state_.objects.end() && object->second.ia == ia) evds.push_back(handle);
  }
  return evds;
}

void LedgerCloses::on_close_refused(Handle ia, const Site& site) {
  const std::lock_guard lock(state_.mutex);
  report_leaks_locked(ia, kRefused, site);
}

void LedgerCloses::on_closed(Handle ia, bool is_graceful, const Site& site) {
  for (const Handle queue : queues_.of(ia)) queues_.drop(queue);
  const std::lock_guard lock(state_.mutex);
  if (is_graceful) report_leaks_locked(ia, kGracefully, site);
  for (auto& [handle, object] : state_.objects) {
    if (object.ia != ia || object.ended.call != nullptr) continue;
    object.ended = site;
    if (const auto evd = state_.evds.find(handle); evd != state_.evds.end()) {
      LedgerCompletions::report_leftovers_locked(evd->second);
      state_.evds.erase(evd);
    }
    if (const auto lkey = state_.lkeys.find(handle); lkey != state_.lkeys.end()) {
      state_.regions.erase(lkey->second);
      state_.lkeys.erase(lkey);
    }
  }
  state_.freed.erase(ia);
}

// Also those that a graceful close does not ask for: requests that the program has not answered.
void LedgerCloses::report_leaks_locked(Handle ia, const char* how, const Site& site) {
  base::require_lock(locks::kLedger);
  std::map<std::pair<Kind, const void*>, std::pair<const ObjectRecord*, std::uint32_t>> left;
  std::uint32_t kinds = 0;
  for (const auto& [handle, object] : state_.objects) {
    const bool is_child = object.ia == ia && handle != ia && object.ended.call == nullptr;
    // The asynchronous EVD that dat_ia_open() made ends with the adapter.
    if (!is_child || call_name(object.made) == "dat_ia_open") continue;
    auto& [first, times] = left[{object.kind, object.made.place}];
    first = &object;
    ++times;
    kinds |= 1U << static_cast<unsigned>(object.kind);
  }
  // A program that leaves everything to an abrupt close means it.
  if (how == kAbruptly && std::popcount(state_.freed[ia]) <= std::popcount(kinds)) return;
  for (const auto& [key, what] : left) {
    const auto& [object, times] = what;
    report({Rule::kLeak,
            std::to_string(times) + ' ' + kind_text(key.first) + (times == 1 ? " was " : "s were ") + how,
            {{"created", object->made}, {"closed", site}}});
  }
}

// Watermarks and the end of an endpoint with an SRQ are news, not errors: a program may leave them unread.
bool LedgerCloses::is_error_locked(const object::Event& event) const {
  base::require_lock(locks::kLedger);
  const auto* const error = std::get_if<object::AsyncError>(&event.body);
  if (error == nullptr || error->reason == kWatermark) return false;
  if (error->type != object::AsyncErrorType::kEpBroken) return true;
  const auto ep = state_.objects.find(error->object);
  return ep == state_.objects.end() || call_name(ep->second.made) != "dat_ep_create_with_srq";
}

}  // namespace softdat::sanitize
