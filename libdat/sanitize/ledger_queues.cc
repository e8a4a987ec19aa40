// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/sanitize/ledger_queues.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <mutex>
#include <thread>

#include "base/assert.h"
#include "libdat/object/endpoint.h"
#include "libdat/object/handle_table.h"
#include "libdat/sanitize/ledger_guards.h"

namespace softdat::sanitize {

QueueRecord* LedgerQueues::find_locked(Handle handle) {
  base::require_lock(locks::kLedger);
  const auto found = state_.queues.find(handle);
  if (found != state_.queues.end() && found->second->is_known) return found->second.get();
  const bool is_there = object::HandleTable::instance().pin_any(handle).get() != nullptr;
  if (!is_there) return nullptr;
  // Made first: without memory there must not be an entry that is null.
  auto queue = found != state_.queues.end() ? found->second : std::make_shared<QueueRecord>();
  if (found == state_.queues.end()) state_.queues.emplace(handle, queue);
  queue->handle = handle;
  look_up_locked(*queue);
  return queue.get();
}

// The adapter may wait for the ledger's lock with the baton, so nothing here waits for a lock of the EP's: it is asked
// a few times, and again at its next call.
void LedgerQueues::look_up_locked(QueueRecord& queue) {
  base::require_lock(locks::kLedger);
  constexpr int kTries = 1000;
  queue.is_known = true;
  const auto ep = object::pin_handle<object::Endpoint>(queue.handle);
  if (!ep) return;
  auto feeds = ep->feeds();
  for (int i = 0; !feeds && i < kTries; ++i) {
    std::this_thread::yield();
    feeds = ep->feeds();
  }
  queue.is_known = feeds.has_value();
  if (!feeds) return;
  queue.srq = feeds->srq;
  queue.recv_evd = feeds->recv_evd;
  queue.request_evd = feeds->request_evd;
}

// Searches all SRQs for the cookie: a freed EP no longer tells which SRQ it used.
QueueRecord* LedgerQueues::find_shared_locked(std::uint64_t cookie) const {
  base::require_lock(locks::kLedger);
  for (const auto& [handle, queue] : state_.queues) {
    const auto object = state_.objects.find(handle);
    if (object == state_.objects.end() || object->second.kind != Kind::kSrq) continue;
    const auto is_it = [&](const auto& operation) { return operation->cookie == cookie; };
    if (std::any_of(queue->receives.begin(), queue->receives.end(), is_it)) return queue.get();
  }
  return nullptr;
}

std::vector<Handle> LedgerQueues::of(Handle ia) {
  const std::lock_guard lock(state_.mutex);
  std::vector<Handle> queues;
  for (const auto& [handle, object] : state_.objects) {
    const bool is_queue = object.kind == Kind::kEp || object.kind == Kind::kSrq;
    if (is_queue && object.ia == ia && object.ended.call == nullptr) queues.push_back(handle);
  }
  return queues;
}

void LedgerQueues::drop(Handle handle) {
  std::shared_ptr<QueueRecord> queue;
  {
    const std::lock_guard lock(state_.mutex);
    const auto found = state_.queues.find(handle);
    if (found == state_.queues.end()) return;
    queue = found->second;
  }
  // First `order`: a post that is under way ends before its operation is dropped.
  const std::lock_guard order(queue->order);
  const std::lock_guard lock(state_.mutex);
  forget_all_locked(*queue);
  SOFTDAT_DEBUG_CHECK(queue->receives.empty() && queue->requests.empty(), "a queue that has gone has no operations");
  queue->is_gone = true;
  const auto found = state_.queues.find(handle);
  if (found != state_.queues.end() && found->second == queue) state_.queues.erase(found);
}

void LedgerQueues::forget_locked(Operation& operation) {
  base::require_lock(locks::kLedger);
  LedgerGuards::unguard_locked(operation);
  state_.index.remove(operation);
  std::erase(state_.stacked, &operation);
  if (operation.is_suppressed) return;
  const auto evd = state_.evds.find(operation.evd);
  if (evd != state_.evds.end() && evd->second.outstanding > 0) --evd->second.outstanding;
}

void LedgerQueues::forget_all_locked(QueueRecord& queue) {
  base::require_lock(locks::kLedger);
  for (auto* const operations : {&queue.receives, &queue.requests}) {
    for (const auto& operation : *operations) forget_locked(*operation);
    operations->clear();
  }
}

bool LedgerQueues::is_settled_locked(const Operation& operation) {
  base::require_lock(locks::kLedger);
  if (operation.is_completed) return true;
  if (!operation.is_suppressed) return false;
  const auto queue = state_.queues.find(operation.queue);
  // A message that came since may have told the program that the request is done.
  if (queue != state_.queues.end() && queue->second->received > operation.received) return true;
  const auto ep = object::pin_handle<object::Endpoint>(operation.queue);
  return !ep || ep->status().is_request_idle;
}

// A read is not over because it has been answered: its data is there only after a
// completion.
bool LedgerQueues::is_brought_locked(const Operation& operation) {
  base::require_lock(locks::kLedger);
  return fetches(operation.kind) ? operation.is_completed : is_settled_locked(operation);
}

bool LedgerQueues::is_over_locked(const QueueRecord& queue) const {
  base::require_lock(locks::kLedger);
  const auto object = state_.objects.find(queue.handle);
  const bool is_shared = object != state_.objects.end() && object->second.kind == Kind::kSrq;
  if (!is_shared) return queue.disconnected.call != nullptr;
  // A shared queue is over when no endpoint that takes from it is connected.
  return std::none_of(state_.queues.begin(), state_.queues.end(), [&](const auto& each) {
    const QueueRecord& user = *each.second;
    return user.srq == queue.handle && user.was_connected && user.disconnected.call == nullptr;
  });
}

}  // namespace softdat::sanitize
