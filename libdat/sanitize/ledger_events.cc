// SPDX-License-Identifier: BSD-2-Clause
// Events that the program dequeues, and waits that end without one.
#include <algorithm>

#include "base/assert.h"
#include "libdat/object/event_dispatcher.h"
#include "libdat/object/failure_text.h"
#include "libdat/object/memory_probe.h"
#include "libdat/sanitize/checksum.h"
#include "libdat/sanitize/ledger.h"
#include "libdat/sanitize/settings.h"

namespace softdat::sanitize {
namespace {

using object::ConnectionResult;
using object::DtoCompletion;
using object::DtoOperation;
using object::DtoStatus;

bool is_receive(DtoOperation operation) {
  return operation == DtoOperation::kReceive || operation == DtoOperation::kReceiveWithInvalidate ||
         operation == DtoOperation::kReceiveRdmaImmediate || operation == DtoOperation::kReceiveImmediate ||
         operation == DtoOperation::kReceiveDatagram;
}

// So long a program polls for nothing but by mistake.
constexpr base::Duration kLongIdleness = std::chrono::milliseconds(100);
// After that a poll looks again whether anything could complete. Each poll would be too many.
constexpr base::Duration kTimeBetweenLooks = std::chrono::milliseconds(10);

}  // namespace

void Ledger::on_event(const object::Event& event, const Site& site) {
  std::unique_lock lock(state_.mutex);
  guards_.end_unordered_locked(0, UINT64_MAX);
  const auto evd = state_.evds.find(event.evd);
  if (evd != state_.evds.end()) {
    evd->second.is_tapped = true;
    evd->second.empty = {};
    evd->second.empties = 0;
    evd->second.look_due.reset();
  }
  if (const auto* const completion = std::get_if<DtoCompletion>(&event.body)) {
    return complete(*completion, site, lock);
  }
  buffers_.check_stacks_locked(site);
  if (const auto* const notice = std::get_if<object::ConnectionNotice>(&event.body)) {
    return note_connection_locked(*notice, site);
  }
  if (std::holds_alternative<object::RmrBindCompletion>(event.body)) {
    if (evd != state_.evds.end() && evd->second.binds > 0) --evd->second.binds;
    return;
  }
  if (const auto* const arrival = std::get_if<object::RequestArrival>(&event.body)) {
    const auto service = state_.objects.find(arrival->service_point);
    const Handle ia = service == state_.objects.end() ? nullptr : service->second.ia;
    state_.objects[arrival->request] = {.kind = Kind::kCr, .ia = ia, .made = site, .ended = {}};
  }
}

// The buffers are looked at without the ledger's lock.
void Ledger::complete(const DtoCompletion& completion, const Site& site, std::unique_lock<LedgerLock>& lock) {
  SOFTDAT_DEBUG_CHECK(lock.owns_lock() && lock.mutex() == &state_.mutex, "the caller holds the lock of the ledger");
  OperationList done;
  done.swap(state_.done_list);
  SOFTDAT_DEBUG_CHECK(done.empty(), "operations that are done are out of the list", done.size());
  take_completed_locked(completion, site, done);
  if (completion.status != DtoStatus::kSuccess && !done.empty()) {
    const auto queue = state_.queues.find(completion.ep);
    if (queue != state_.queues.end()) note_failure_locked(*queue->second, *done.back(), site);
  }
  lock.unlock();
  for (const auto& operation : done) LedgerBuffers::check_completed(*operation, completion, site);
  lock.lock();
  for (auto& operation : done) posts_.keep_spare_locked(std::move(operation));
  done.clear();
  done.swap(state_.done_list);
}

// The completed operation, and the suppressed ones before it, which are done as well.
void Ledger::take_completed_locked(const DtoCompletion& completion, const Site& site, OperationList& done) {
  base::require_lock(locks::kLedger);
  const bool is_message = is_receive(completion.operation);
  QueueRecord* const ep = queues_.find_locked(completion.ep);
  QueueRecord* queue = ep;
  if (ep == nullptr) {
    take_leftover_locked(completion);
    queue = is_message ? queues_.find_shared_locked(completion.cookie) : nullptr;
  } else if (is_message) {
    if (completion.status == DtoStatus::kSuccess) ++ep->received;
    if (ep->srq != nullptr) queue = queues_.find_locked(ep->srq);
  }
  if (queue == nullptr) return;
  auto& operations = is_message ? queue->receives : queue->requests;
  const bool may_be_suppressed = completion.status != DtoStatus::kSuccess;
  const auto is_it = [&](const auto& operation) {
    return operation->cookie == completion.cookie && (may_be_suppressed || is_message || !operation->is_suppressed);
  };
  const auto completed = std::find_if(operations.begin(), operations.end(), is_it);
  if (completed == operations.end()) return report_doubled_locked(completion, *queue, site);
  const Operation* const last = completed->get();
  // Reserves first: what follows must not throw, because it takes operations out of several lists.
  done.reserve(static_cast<std::size_t>(std::distance(operations.begin(), completed)) + 1);
  std::ptrdiff_t left = 0;  // operations before it that are still outstanding
  for (bool is_last = false; !is_last;) {
    const auto each = operations.begin() + left;
    Operation& operation = **each;
    is_last = &operation == last;
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
void Ledger::report_doubled_locked(const DtoCompletion& completion, const QueueRecord& queue, const Site& site) const {
  base::require_lock(locks::kLedger);
  if (queue.handle != completion.ep || queue.posts == 0 || state_.has_missed_posts.load()) return;
  report({Rule::kDoubledCompletion,
          "EP " + hex(completion.ep) + " has no outstanding operation with the cookie " + hex(completion.cookie) +
              ", which has completed.",
          {{"dequeued", site}}});
}

// A reliable connection ends with the first operation that fails.
void Ledger::note_failure_locked(QueueRecord& queue, const Operation& operation, const Site& site) {
  base::require_lock(locks::kLedger);
  const bool is_of_now = queue.was_connected && operation.number > queue.reset_number;
  if (!is_of_now || queue.disconnected.call != nullptr) return;
  queue.disconnected = site;
  LedgerGuards::unguard_all_locked(queue);
}

void Ledger::take_leftover_locked(const DtoCompletion& completion) {
  base::require_lock(locks::kLedger);
  for (auto& [handle, evd] : state_.evds) {
    const auto is_it = [&](const Leftover& left) {
      return left.ep == completion.ep && left.cookie == completion.cookie;
    };
    const auto found = std::find_if(evd.leftovers.begin(), evd.leftovers.end(), is_it);
    if (found == evd.leftovers.end()) continue;
    evd.leftovers.erase(found);
    return;
  }
}

void Ledger::note_connection_locked(const object::ConnectionNotice& notice, const Site& site) {
  base::require_lock(locks::kLedger);
  const auto queue = queues_.find_locked(notice.ep);
  if (queue == nullptr) return;
  if (notice.result == ConnectionResult::kEstablished) {
    queue->was_connected = true;
    queue->disconnected = {};
  }
  const bool is_end = notice.result == ConnectionResult::kDisconnected || notice.result == ConnectionResult::kBroken;
  if (!is_end) return;
  // Check now: the completion of a flushed operation is not checked for unmapped memory.
  buffers_.check_mapped_locked(*queue, nullptr, site);
  if (QueueRecord* const shared = queue->srq == nullptr ? nullptr : queues_.find_locked(queue->srq)) {
    buffers_.check_mapped_locked(*shared, nullptr, site);
  }
  queue->disconnected = site;
  LedgerGuards::unguard_all_locked(*queue);
}

void Ledger::on_no_event(Handle evd, const Site& site, bool has_waited_long) {
  const std::lock_guard lock(state_.mutex);
  const auto found = state_.evds.find(evd);
  if (found == state_.evds.end()) return;
  found->second.empty = site;
  found->second.empty_number = ++state_.number;
  ++found->second.empties;
  found->second.woken = {};
  if (!state_.stacked.empty() && state_.stacked.back()->number > state_.stacks_checked)
    buffers_.check_stacks_locked(site);
  check_receives_locked(evd, site, has_waited_long);
}

// The program waits for completions although nothing is outstanding that could complete. One that polls may have other
// reasons, unless it has never posted a receive.
void Ledger::check_receives_locked(Handle evd, const Site& site, bool has_waited_long) {
  base::require_lock(locks::kLedger);
  EvdRecord& record = state_.evds[evd];
  if (record.outstanding > 0 || record.binds > 0) return record.look_due.reset();
  const base::Time now = base::Clock::now();
  if (!record.look_due) record.look_due = now + kLongIdleness;
  if (!has_waited_long && now < *record.look_due) return;
  record.look_due = now + kTimeBetweenLooks;
  const auto dispatcher = object::pin_handle<object::EventDispatcher>(evd);
  if (!dispatcher || (dispatcher->streams() & ~(object::kDtoStream | object::kRmrBindStream)) != 0) return;
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

void Ledger::on_wait_refused(Handle evd, const Site& site) {
  const std::lock_guard lock(state_.mutex);
  const auto found = state_.objects.find(evd);
  if (found == state_.objects.end() || is_repeated(Rule::kWaitRefused, found->second.made, site)) return;
  report({Rule::kWaitRefused,
          "EVD " + hex(evd) + " cannot be used so: the call was refused.",
          {{"created", found->second.made}, {"refused", site}}});
}

void Ledger::on_resized(Handle evd) {
  const auto dispatcher = object::pin_handle<object::EventDispatcher>(evd);
  const std::lock_guard lock(state_.mutex);
  const auto found = state_.evds.find(evd);
  if (dispatcher && found != state_.evds.end()) found->second.qlen = dispatcher->qlen();
}

void Ledger::on_woken(Handle evd, const Site& site) {
  const std::lock_guard lock(state_.mutex);
  const auto found = state_.evds.find(evd);
  if (found == state_.evds.end()) return;
  found->second.woken = site;
  found->second.is_tapped = false;
}

void Ledger::before_cno_wait(const Site& site) {
  const std::lock_guard lock(state_.mutex);
  for (auto& [handle, evd] : state_.evds) {
    if (evd.woken.call == nullptr || !evd.is_tapped) continue;
    const auto dispatcher = object::pin_handle<object::EventDispatcher>(handle);
    const bool is_left = dispatcher && dispatcher->pending() > 0;
    if (is_left && !is_repeated(Rule::kPartialDrain, evd.woken, site)) {
      report({Rule::kPartialDrain,
              "EVD " + hex(handle) + " still has " + std::to_string(dispatcher->pending()) +
                  " of the events for which the CNO woke the program.",
              {{"woken", evd.woken}, {"waited again", site}}});
    }
    evd.woken = {};
  }
}

// The EVDs of the CNO were found empty. Which these are is asked without the ledger's lock: an EVD has a lock for it.
void Ledger::on_cno_timeout(Handle cno, const Site& site) {
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

}  // namespace softdat::sanitize
