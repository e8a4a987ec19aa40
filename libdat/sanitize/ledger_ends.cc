// SPDX-License-Identifier: BSD-2-Clause
// The ends of connections, objects and adapters.
#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "libdat/object/endpoint.h"
#include "libdat/object/event_dispatcher.h"
#include "libdat/object/failure_text.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/object/memory_probe.h"
#include "libdat/sanitize/ledger.h"
#include "libdat/sanitize/settings.h"

namespace softdat::sanitize {
namespace {

// An LMR that served no more operations was hardly worth its registration.
constexpr std::uint32_t kFewOperations = 4;

// DAT_SRQ_LOW_WATERMARK_EVENT, DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT
constexpr std::int32_t kWatermark = 2;

// How the adapter was closed while objects were left.
constexpr const char* kRefused = "left when the adapter was to be closed gracefully, which was refused.";
constexpr const char* kGracefully = "left when the adapter was closed gracefully.";
constexpr const char* kAbruptly = "left when the adapter was closed abruptly, although the program frees others.";

// Rights that a program can do without. DAT_MEM_PRIV_LOCAL_READ_FLAG goes without saying.
constexpr std::pair<std::uint32_t, const char*> kRights[] = {
    {object::kLocalWritePrivilege, "DAT_MEM_PRIV_LOCAL_WRITE_FLAG"},
    {object::kRemoteReadPrivilege, "DAT_MEM_PRIV_REMOTE_READ_FLAG"},
    {object::kRemoteWritePrivilege, "DAT_MEM_PRIV_REMOTE_WRITE_FLAG"},
    {object::kRemoteAtomicPrivilege, "DAT_IB_MEM_PRIV_REMOTE_ATOMIC"}};

// The events of an EVD that no stream of completions feeds. They stay there.
std::vector<object::Event> look_at_events(object::EventDispatcher& evd) {
  std::vector<object::Event> events;
  object::Event event;
  events.reserve(static_cast<std::size_t>(evd.pending()));
  while (events.size() < events.capacity() && evd.dequeue(event).ok()) events.push_back(event);
  for (const object::Event& each : events) evd.post(each);
  return events;
}

}  // namespace

void Ledger::before_deregistration(Handle lmr, const Site& site) {
  const std::lock_guard lock(state_.mutex);
  const auto lkey = state_.lkeys.find(lmr);
  if (lkey == state_.lkeys.end()) return;
  const auto region = state_.regions.find(lkey->second);
  if (region == state_.regions.end()) return;
  for (const auto& [handle, queue] : state_.queues) buffers_.check_mapped_locked(*queue, &region->second.lkey, site);
  buffers_.check_freed_locked(region->second, site);
  check_rights_locked(region->second, site);
  const auto object = state_.objects.find(lmr);
  const std::uint32_t operations = region->second.operations;
  if (object != state_.objects.end() && operations > 0 && operations <= kFewOperations) {
    ++state_.used_registrations[{region->second.made.place, object->second.ia}];
  }
  state_.ended_regions[region->second.lkey] = {region->second.made, site};
  guards_.end_unordered_locked(region->second.address, region->second.length);
  LedgerGuards::before_registration(region->second.address, region->second.length);
  state_.regions.erase(region);
  state_.lkeys.erase(lkey);
}

// Rights for peers include that of the adapter to store.
void Ledger::check_rights_locked(const RegionRecord& region, const Site& site) {
  base::require_lock(locks::kLedger);
  if (mode() != Mode::kFull || region.used == 0) return;
  constexpr std::uint32_t kPeersStore = object::kRemoteWritePrivilege | object::kRemoteAtomicPrivilege;
  std::uint32_t unused = region.privileges & ~region.used;
  if ((region.privileges & kPeersStore) != 0) unused &= ~std::uint32_t{object::kLocalWritePrivilege};
  std::string names;
  for (const auto& [right, name] : kRights) {
    if ((unused & right) != 0) names += (names.empty() ? "" : ", ") + std::string(name);
  }
  if (names.empty() || is_repeated(Rule::kUnusedRight, region.made, site)) return;
  report({Rule::kUnusedRight,
          "Of " + object::range_text(region.address, region.length) + " these rights were never used: " + names + '.',
          {{"registered", region.made}, {"freed", site}}});
}

// Also those that a graceful close does not ask for: requests that the program has not answered.
void Ledger::report_leaks_locked(Handle ia, const char* how, const Site& site) {
  base::require_lock(locks::kLedger);
  std::map<std::pair<Kind, const void*>, std::pair<const ObjectRecord*, std::uint32_t>> left;
  std::uint32_t kinds = 0;
  for (const auto& [handle, object] : state_.objects) {
    const bool is_child = object.ia == ia && handle != ia && object.ended.call == nullptr;
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
bool Ledger::is_error_locked(const object::Event& event) const {
  base::require_lock(locks::kLedger);
  const auto* const error = std::get_if<object::AsyncError>(&event.body);
  if (error == nullptr || error->reason == kWatermark) return false;
  if (error->type != object::AsyncErrorType::kEpBroken) return true;
  const auto ep = state_.objects.find(error->object);
  return ep == state_.objects.end() || call_name(ep->second.made) != "dat_ep_create_with_srq";
}

void Ledger::before_close(Handle ia, const Site& site) {
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

void Ledger::before_abrupt_close(Handle ia, const Site& site) {
  {
    const std::lock_guard lock(state_.mutex);
    report_leaks_locked(ia, kAbruptly, site);
  }
  for (const Handle ep : queues_.of(ia)) endpoints_.before_free(ep, site);
}

void Ledger::on_close_refused(Handle ia, const Site& site) {
  const std::lock_guard lock(state_.mutex);
  report_leaks_locked(ia, kRefused, site);
}

void Ledger::on_closed(Handle ia, bool is_graceful, const Site& site) {
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

void Ledger::on_window(Handle rmr, std::uint32_t rmr_context, const object::Segment& memory, bool is_zero_based) {
  const std::lock_guard lock(state_.mutex);
  if (memory.length == 0) {
    state_.windows.erase(rmr);
  } else {
    state_.windows[rmr] = {.rmr_context = rmr_context, .memory = memory, .is_zero_based = is_zero_based};
  }
}

std::optional<object::Segment> Ledger::find_sink(std::uint64_t address, std::uint32_t length,
                                                 std::uint32_t rmr_context) {
  const std::lock_guard lock(state_.mutex);
  object::Segment sink{};
  sink.address = address;
  sink.length = length;
  sink.lkey = rmr_context;
  if (state_.regions.contains(rmr_context)) return sink;
  for (const auto& [rmr, window] : state_.windows) {
    if (window.rmr_context != rmr_context) continue;
    const auto region = state_.regions.find(window.memory.lkey);
    if (region == state_.regions.end()) return std::nullopt;
    if (window.is_zero_based) sink.address += window.memory.address;
    sink.lkey = window.memory.lkey;
    return sink;
  }
  return std::nullopt;
}

}  // namespace softdat::sanitize
