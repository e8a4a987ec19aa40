// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/sanitize/ledger_events.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <new>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "libdat/object/event_dispatcher.h"
#include "libdat/sanitize/finding.h"

namespace softdat::sanitize {
namespace {

using object::DtoCompletion;

// So long a program polls for nothing but by mistake.
constexpr base::Duration kLongIdleness = std::chrono::milliseconds(100);
// After that a poll looks again whether anything could complete. Each poll would be too many.
constexpr base::Duration kTimeBetweenLooks = std::chrono::milliseconds(10);

constinit std::array<Dequeuing, 64> g_dequeuing;

}  // namespace

void LedgerEvents::on_event(const object::Event& event, const Site& site) {
  OperationList done;
  {
    const std::lock_guard lock(state_.mutex);
    done = take_locked(event, site);
  }
  if (const auto* const completion = std::get_if<DtoCompletion>(&event.body)) {
    completions_.finish(done, *completion, site);
  }
}

OperationList LedgerEvents::take_locked(const object::Event& event, const Site& site) {
  base::require_lock(locks::kLedger);
  // Every event orders the peers' earlier writes, so the guards on their data end.
  guards_.end_unordered_locked(0, UINT64_MAX);
  const auto evd = state_.evds.find(event.evd);
  if (evd != state_.evds.end()) {
    evd->second.is_tapped = true;
    evd->second.empty = {};
    evd->second.empties = 0;
    evd->second.look_due.reset();
  }
  if (const auto* const completion = std::get_if<DtoCompletion>(&event.body)) {
    return completions_.take_locked(*completion, site);
  }
  buffers_.check_stacks_locked(site);
  if (const auto* const notice = std::get_if<object::ConnectionNotice>(&event.body)) {
    endpoints_.note_connection_locked(*notice, site);
  } else if (std::holds_alternative<object::RmrBindCompletion>(event.body)) {
    if (evd != state_.evds.end() && evd->second.binds > 0) --evd->second.binds;
  } else if (const auto* const arrival = std::get_if<object::RequestArrival>(&event.body)) {
    // No call makes a CR, so its arrival enters it.
    const auto service = state_.objects.find(arrival->service_point);
    const Handle ia = service == state_.objects.end() ? nullptr : service->second.ia;
    state_.objects[arrival->request] = {.kind = Kind::kCr, .ia = ia, .made = site, .ended = {}};
  }
  return {};
}

void LedgerEvents::on_no_event(Handle evd, const Site& site, bool has_waited_long) {
  const std::lock_guard lock(state_.mutex);
  const auto found = state_.evds.find(evd);
  if (found == state_.evds.end()) return;
  found->second.empty = site;
  found->second.empty_number = ++state_.number;
  ++found->second.empties;
  found->second.woken = {};
  buffers_.check_new_stacks_locked(site);
  check_receives_locked(evd, found->second, site, has_waited_long);
}

// The program waits for completions although nothing is outstanding that could complete. One that polls may have other
// reasons, unless it has never posted a receive.
void LedgerEvents::check_receives_locked(Handle evd, EvdRecord& record, const Site& site, bool has_waited_long) {
  base::require_lock(locks::kLedger);
  if (record.outstanding > 0 || record.binds > 0) return record.look_due.reset();
  const base::Time now = base::Clock::now();
  if (!record.look_due) record.look_due = now + kLongIdleness;
  if (!has_waited_long && now < *record.look_due) return;
  record.look_due = now + kTimeBetweenLooks;
  const auto dispatcher = object::pin_handle<object::EventDispatcher>(evd);
  // An EVD with other streams may be waited on for those.
  if (!dispatcher || (dispatcher->streams().kinds() & ~(object::kDtoStream | object::kRmrBindStream)) != 0) return;
  bool is_fed = false;
  for (const auto& [handle, queue] : state_.queues) {
    if (queue->recv_evd != evd) continue;
    if (queue->srq != nullptr || queue->disconnected.call != nullptr) return;
    if (!has_waited_long && (queue->posted.call != nullptr || queue->request_evd == evd)) return;
    is_fed = is_fed || queue->was_connected;
  }
  if (!is_fed || is_repeated(Rule::kReceiveNotPosted, site, site)) return;
  report(
      {Rule::kReceiveNotPosted,
       "EVD " + hex(evd) + " was waited on, but no receive or request is outstanding whose completion it would take.",
       {{"waited", site}}});
}

void LedgerEvents::on_wait_refused(Handle evd, const Site& site) {
  const std::lock_guard lock(state_.mutex);
  const auto found = state_.objects.find(evd);
  if (found == state_.objects.end() || is_repeated(Rule::kWaitRefused, found->second.made, site)) return;
  report({Rule::kWaitRefused,
          "EVD " + hex(evd) + " cannot be used so: the call was refused.",
          {{"created", found->second.made}, {"refused", site}}});
}

void LedgerEvents::on_resized(Handle evd) {
  const auto dispatcher = object::pin_handle<object::EventDispatcher>(evd);
  const std::lock_guard lock(state_.mutex);
  const auto found = state_.evds.find(evd);
  if (dispatcher && found != state_.evds.end()) found->second.qlen = dispatcher->queue().length();
}

void LedgerEvents::before_evd_free(Handle evd) {
  // An EVD that something feeds cannot be freed, and the program goes on to use its events.
  const auto dispatcher = object::pin_handle<object::EventDispatcher>(evd);
  if (dispatcher && dispatcher->streams().are_none()) completions_.take_left(evd);
  const std::lock_guard lock(state_.mutex);
  const auto found = state_.evds.find(evd);
  if (found != state_.evds.end()) LedgerCompletions::report_leftovers_locked(found->second);
}

void LedgerEvents::on_woken(Handle evd, const Site& site) {
  const std::lock_guard lock(state_.mutex);
  const auto found = state_.evds.find(evd);
  if (found == state_.evds.end()) return;
  found->second.woken = site;
  found->second.is_tapped = false;
}

void LedgerEvents::before_cno_wait(const Site& site) {
  const std::lock_guard lock(state_.mutex);
  for (auto& [handle, evd] : state_.evds) {
    if (evd.woken.call == nullptr || !evd.is_tapped) continue;
    const auto dispatcher = object::pin_handle<object::EventDispatcher>(handle);
    const bool is_left = dispatcher && dispatcher->queue().size() > 0;
    if (is_left && !is_repeated(Rule::kPartialDrain, evd.woken, site)) {
      report({Rule::kPartialDrain,
              "EVD " + hex(handle) + " still has " + std::to_string(dispatcher->queue().size()) +
                  " of the events for which the CNO woke the program.",
              {{"woken", evd.woken}, {"waited again", site}}});
    }
    evd.woken = {};
  }
}

// The EVDs of the CNO were found empty. Which these are is asked without the ledger's lock: an EVD has a lock for it.
void LedgerEvents::on_cno_timeout(Handle cno, const Site& site) {
  std::vector<Handle> known;
  {
    const std::lock_guard lock(state_.mutex);
    for (const auto& [handle, evd] : state_.evds) known.push_back(handle);
  }
  std::erase_if(known, [&](Handle handle) {
    const auto evd = object::pin_handle<object::EventDispatcher>(handle);
    return !evd || evd->query().cno != cno;
  });
  const std::lock_guard lock(state_.mutex);
  for (const Handle handle : known) {
    const auto evd = state_.evds.find(handle);
    if (evd == state_.evds.end()) continue;
    evd->second.empty = site;
    evd->second.empty_number = ++state_.number;
    ++evd->second.empties;
  }
}

// Other threads may free the EVD meanwhile, so the lock is none of its record.
Dequeuing& LedgerEvents::dequeuing(Handle evd) {
  return g_dequeuing[reinterpret_cast<std::uintptr_t>(evd) / 64 % g_dequeuing.size()];
}

void LedgerEvents::start_afresh_in_child() {
  for (Dequeuing& each : g_dequeuing) new (&each) Dequeuing;
}

}  // namespace softdat::sanitize
