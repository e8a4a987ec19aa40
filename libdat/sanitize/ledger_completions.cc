// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/sanitize/ledger_completions.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <mutex>
#include <string>
#include <utility>
#include <variant>

#include "base/assert.h"
#include "libdat/object/event_dispatcher.h"
#include "libdat/sanitize/finding.h"
#include "libdat/sanitize/ledger_buffers.h"
#include "libdat/sanitize/ledger_guards.h"

namespace softdat::sanitize {
namespace {

using object::DtoCompletion;
using object::DtoOperation;
using object::DtoStatus;

bool is_receive(DtoOperation operation) {
  return operation == DtoOperation::kReceive || operation == DtoOperation::kReceiveWithInvalidate ||
         operation == DtoOperation::kReceiveRdmaImmediate || operation == DtoOperation::kReceiveImmediate ||
         operation == DtoOperation::kReceiveDatagram;
}

}  // namespace

OperationList LedgerCompletions::take_locked(const DtoCompletion& completion, const Site& site) {
  base::require_lock(locks::kLedger);
  // One list is lent from call to call, so that a completion takes no memory.
  OperationList done;
  done.swap(state_.done_list);
  SOFTDAT_DEBUG_CHECK(done.empty(), "operations that are done are out of the list", done.size());
  take_completed_locked(completion, site, done);
  if (completion.status != DtoStatus::kSuccess && !done.empty()) {
    const auto queue = state_.queues.find(completion.ep);
    if (queue != state_.queues.end()) note_failure_locked(*queue->second, *done.back(), site);
  }
  return done;
}

// Without the ledger's lock: checksums of large buffers take long.
void LedgerCompletions::finish(OperationList& done, const DtoCompletion& completion, const Site& site) {
  for (const auto& operation : done) LedgerBuffers::check_completed(*operation, completion, site);
  const std::lock_guard lock(state_.mutex);
  for (auto& operation : done) posts_.keep_spare_locked(std::move(operation));
  done.clear();
  done.swap(state_.done_list);
}

void LedgerCompletions::take_completed_locked(const DtoCompletion& completion, const Site& site, OperationList& done) {
  base::require_lock(locks::kLedger);
  const bool is_message = is_receive(completion.operation);
  QueueRecord* const ep = queues_.find_locked(completion.ep);
  QueueRecord* queue = ep;
  if (ep == nullptr) {
    // The EP was freed: its requests stand among the leftovers, and a receive of an SRQ is found by its cookie.
    take_leftover_locked(completion);
    queue = is_message ? queues_.find_shared_locked(completion.cookie) : nullptr;
  } else if (is_message) {
    if (completion.status == DtoStatus::kSuccess) ++ep->received;
    if (ep->srq != nullptr) queue = queues_.find_locked(ep->srq);
  }
  if (queue == nullptr) return;
  auto& operations = is_message ? queue->receives : queue->requests;
  // A suppressed request completes when it fails.
  const bool may_be_suppressed = completion.status != DtoStatus::kSuccess;
  const auto is_it = [&](const auto& operation) {
    return operation->cookie == completion.cookie && (may_be_suppressed || is_message || !operation->is_suppressed);
  };
  const auto completed = std::find_if(operations.begin(), operations.end(), is_it);
  if (completed == operations.end()) return report_doubled_locked(completion, *queue, site);
  const auto is_signalled = [&](const auto& operation) {
    return operation->cookie == completion.cookie && !operation->is_suppressed;
  };
  if ((*completed)->is_suppressed && std::any_of(completed, operations.end(), is_signalled)) queue->is_ambiguous = true;
  const Operation* const last = completed->get();
  // Reserves first: what follows must not throw, because it takes operations out of several lists.
  done.reserve(static_cast<std::size_t>(std::distance(operations.begin(), completed)) + 1);
  std::ptrdiff_t left = 0;  // operations before it that are still outstanding
  for (bool is_last = false; !is_last;) {
    const auto each = operations.begin() + left;
    Operation& operation = **each;
    is_last = &operation == last;
    // Suppressed requests before it are over as well: requests of a queue complete in order.
    if (!is_last && (is_message || !operation.is_suppressed)) {
      ++left;
      continue;
    }
    SOFTDAT_DEBUG_CHECK(operation.queue == queue->handle, "an operation stands in the list of its queue");
    queues_.forget_locked(operation);
    operation.is_completed = operation.is_suppressed && queue->received > operation.received;
    done.push_back(std::move(*each));
    left == 0 ? operations.pop_front() : static_cast<void>(operations.erase(each));
  }
}

// An EP that the ledger has just met may have posted before.
void LedgerCompletions::report_doubled_locked(const DtoCompletion& completion, const QueueRecord& queue,
                                              const Site& site) const {
  base::require_lock(locks::kLedger);
  if (queue.handle != completion.ep || queue.posts == 0 || state_.has_missed_posts.load()) return;
  report({Rule::kDoubledCompletion,
          "EP " + hex(completion.ep) + " has no outstanding operation with the cookie " + hex(completion.cookie) +
              ", which has completed.",
          {{"dequeued", site}}});
}

// A reliable connection ends with the first operation that fails.
void LedgerCompletions::note_failure_locked(QueueRecord& queue, const Operation& operation, const Site& site) {
  base::require_lock(locks::kLedger);
  const bool is_of_now = queue.was_connected && operation.number > queue.reset_number;
  if (!is_of_now || queue.disconnected.call != nullptr) return;
  queue.disconnected = site;
  LedgerGuards::unguard_all_locked(queue);
}

void LedgerCompletions::take_leftover_locked(const DtoCompletion& completion) {
  base::require_lock(locks::kLedger);
  for (auto& [handle, evd] : state_.evds) {
    const auto found = std::find_if(evd.leftovers.begin(), evd.leftovers.end(), [&](const Leftover& left) {
      return left.ep == completion.ep && left.cookie == completion.cookie;
    });
    if (found == evd.leftovers.end()) continue;
    evd.leftovers.erase(found);
    return;
  }
}

// The first that is not known to have completed.
Leftover* LedgerCompletions::find_leftover_locked(const DtoCompletion& completion) {
  base::require_lock(locks::kLedger);
  for (auto& [handle, evd] : state_.evds) {
    const auto found = std::find_if(evd.leftovers.begin(), evd.leftovers.end(), [&](const Leftover& left) {
      return left.ep == completion.ep && left.cookie == completion.cookie && !left.is_completed;
    });
    if (found != evd.leftovers.end()) return &*found;
  }
  return nullptr;
}

// Only the completions that are left tell whether the requests of a freed EP succeeded before the peer disconnected.
// Events of connection requests are not taken: their end refuses the request.
void LedgerCompletions::take_left(Handle evd) {
  const auto dispatcher = object::pin_handle<object::EventDispatcher>(evd);
  if (!dispatcher || dispatcher->streams().takes(object::kCrStream)) return;
  if (dispatcher->queue().completion_queue() == nullptr) return;
  object::Event event;
  while (dispatcher->queue().size() > 0 && dispatcher->dequeue(event).ok()) {
    const auto* const completion = std::get_if<DtoCompletion>(&event.body);
    if (completion == nullptr || completion->status != DtoStatus::kSuccess) continue;
    const std::lock_guard lock(state_.mutex);
    if (Leftover* const left = find_leftover_locked(*completion)) left->is_completed = true;
  }
}

void LedgerCompletions::report_leftovers_locked(EvdRecord& evd) {
  base::require_lock(locks::kLedger);
  for (const Leftover& left : evd.leftovers) {
    if (!left.is_completed || is_repeated(Rule::kIgnoredCompletion, left.posted, left.posted)) continue;
    report({Rule::kIgnoredCompletion,
            std::string("The completion of the ") + name_of(left.kind) + " was never dequeued.",
            {{"posted", left.posted}}});
  }
  evd.leftovers.clear();
}

}  // namespace softdat::sanitize
