// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/sanitize/ledger_endpoints.h"

#include <mutex>
#include <string>

#include "libdat/object/endpoint.h"
#include "libdat/object/event_dispatcher.h"
#include "libdat/sanitize/finding.h"
#include "libdat/sanitize/ledger_guards.h"
#include "libdat/sanitize/settings.h"

namespace softdat::sanitize {
namespace {

using object::ConnectionResult;

}  // namespace

// The EP may have other EVDs now; it is asked at its next call.
void LedgerEndpoints::on_reconfigured(Handle ep) {
  const std::lock_guard lock(state_.mutex);
  if (const auto queue = state_.queues.find(ep); queue != state_.queues.end()) queue->second->is_known = false;
}

void LedgerEndpoints::on_bound(Handle ep) {
  const std::lock_guard lock(state_.mutex);
  const auto queue = queues_.find_locked(ep);
  if (queue == nullptr) return;
  if (const auto evd = state_.evds.find(queue->request_evd); evd != state_.evds.end()) ++evd->second.binds;
}

void LedgerEndpoints::on_status_seen(Handle ep, const Site& site) {
  const std::lock_guard lock(state_.mutex);
  const auto found = state_.queues.find(ep);
  const auto pinned = object::pin_handle<object::Endpoint>(ep);
  if (found == state_.queues.end() || !pinned) return;
  QueueRecord& queue = *found->second;
  // The program has seen the end: a post from now on is a mistake.
  if (queue.was_connected && pinned->state() == object::EndpointState::kDisconnected) queue.disconnected = site;
  if (!pinned->status().is_request_idle) return;
  // No request is outstanding, so suppressed ones, which bring no completion, are done.
  for (const auto& operation : queue.requests) {
    operation->is_completed = operation->is_suppressed;
    operation->after.reset();  // the program may know that the data is there
  }
}

void LedgerEndpoints::note_connection_locked(const object::ConnectionNotice& notice, const Site& site) {
  base::require_lock(locks::kLedger);
  const auto queue = queues_.find_locked(notice.ep);
  if (queue == nullptr) return;
  if (notice.result == ConnectionResult::kEstablished) {
    queue->was_connected = true;
    queue->is_broken = false;
    queue->disconnected = {};
  }
  const bool is_end = notice.result == ConnectionResult::kDisconnected || notice.result == ConnectionResult::kBroken;
  if (!is_end) return;
  queue->is_broken = notice.result == ConnectionResult::kBroken;
  // Check now: the completion of a flushed operation is not checked for unmapped memory.
  buffers_.check_mapped_locked(*queue, nullptr, site);
  if (QueueRecord* const shared = queue->srq == nullptr ? nullptr : queues_.find_locked(queue->srq)) {
    buffers_.check_mapped_locked(*shared, nullptr, site);
  }
  queue->disconnected = site;
  LedgerGuards::unguard_all_locked(*queue);
}

void LedgerEndpoints::before_disconnect(Handle ep, bool is_graceful, const Site& site) {
  const std::lock_guard lock(state_.mutex);
  buffers_.check_stacks_locked(site);
  const auto queue = state_.queues.find(ep);
  if (queue == state_.queues.end()) return;
  mark_completed_locked(*queue->second, is_graceful);
  buffers_.check_mapped_locked(*queue->second, nullptr, site);
}

void LedgerEndpoints::on_disconnected(Handle ep, const Site& site) {
  const std::lock_guard lock(state_.mutex);
  const auto queue = queues_.find_locked(ep);
  if (queue == nullptr || !queue->was_connected) return;
  queue->disconnected = site;
  LedgerGuards::unguard_all_locked(*queue);
}

void LedgerEndpoints::on_reset(Handle ep) {
  const std::lock_guard lock(state_.mutex);
  const auto queue = state_.queues.find(ep);
  if (queue == state_.queues.end()) return;
  queue->second->disconnected = {};
  queue->second->was_connected = false;
  queue->second->is_known = false;
  queue->second->posted = {};
  queue->second->posted_receives = 0;
  queue->second->reset_number = ++state_.number;
}

void LedgerEndpoints::before_free(Handle ep, const Site& site) {
  const std::lock_guard lock(state_.mutex);
  const auto found = state_.queues.find(ep);
  if (found == state_.queues.end()) return;
  QueueRecord& queue = *found->second;
  check_lost_locked(queue, site);
  mark_completed_locked(queue, false);
  for (const auto& operation : queue.requests) {
    const auto evd = state_.evds.find(operation->evd);
    // After a break the program need not dequeue what was flushed.
    const bool is_given_up = queue.is_broken && !operation->is_completed;
    if (operation->is_suppressed || is_given_up || evd == state_.evds.end()) continue;
    evd->second.leftovers.push_back(
        {ep, operation->cookie, operation->kind, operation->posted, operation->is_completed});
  }
  // One receive that was flushed and dequeued may have waited for the end.
  const bool is_unused =
      queue.received == 0 && queue.was_connected && (queue.posted_receives > 1 || !queue.receives.empty());
  if (mode() != Mode::kFull || !is_unused) return;
  report({Rule::kUnusedReceive,
          "None of the receives of EP " + hex(ep) + " was ever used.",
          {{"posted", queue.posted}, {"freed", site}}});
}

// Requests that are done, though the program has not dequeued their completions: a graceful disconnect ends them first.
void LedgerEndpoints::mark_completed_locked(QueueRecord& queue, bool is_graceful) {
  base::require_lock(locks::kLedger);
  const auto ep = object::pin_handle<object::Endpoint>(queue.handle);
  if (!ep || ep->state() != object::EndpointState::kConnected) return;
  if (!is_graceful && !ep->status().is_request_idle) return;
  for (const auto& operation : queue.requests) operation->is_completed = true;
}

// The provider says that nothing is outstanding, nothing waits in the EVD, and yet a completion never came. An EVD that
// overflows loses completions, and the provider tells so.
void LedgerEndpoints::check_lost_locked(QueueRecord& queue, const Site& site) {
  base::require_lock(locks::kLedger);
  const auto ep = object::pin_handle<object::Endpoint>(queue.handle);
  if (!ep || !queue.was_connected) return;
  const object::EndpointStatus status = ep->status();
  if (status.state != object::EndpointState::kDisconnected) return;
  const auto check = [&](const auto& operations, bool is_idle) {
    if (!is_idle) return;
    for (const auto& operation : operations) {
      if (operation->is_suppressed) continue;
      const auto evd = object::pin_handle<object::EventDispatcher>(operation->evd);
      if (!evd || evd->queue().has_overflowed() || evd->queue().size() > 0) continue;
      if (is_repeated(Rule::kLostCompletion, operation->posted, site)) continue;
      report({Rule::kLostCompletion,
              std::string("The ") + name_of(operation->kind) + " with the cookie " + hex(operation->cookie) +
                  " of EP " + hex(queue.handle) + " never completed.",
              {{"posted", operation->posted}, {"freed", site}}});
    }
  };
  check(queue.requests, status.is_request_idle && !queue.is_ambiguous);
  if (queue.srq == nullptr) check(queue.receives, status.is_recv_idle);
}

}  // namespace softdat::sanitize
