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

bool is_any_unmapped(const Operation& operation) {
  return std::any_of(operation.ranges.begin(), operation.ranges.end(), [](const Range& range) {
    return range.length != 0 && !object::is_readable(range.address, range.length);
  });
}

// The first and last byte stand for all: more would be slow, and the adapter has just stored them.
bool has_ends(const Operation& operation) {
  return std::all_of(operation.ranges.begin(), operation.ranges.end(), [](const Range& range) {
    return range.length == 0 || (checksum(range.address, 1, 0) && checksum(range.address + range.length - 1, 1, 0));
  });
}

// So long a program polls for nothing but by mistake.
constexpr base::Duration kLongIdleness = std::chrono::milliseconds(100);
// After that a poll looks again whether anything could complete. Each poll would be too many.
constexpr base::Duration kTimeBetweenLooks = std::chrono::milliseconds(10);

enum class Memory : std::uint8_t { kSame, kChanged, kUnmapped };

Memory look_at(const Operation& operation) {
  if (mode() == Mode::kCompletions) return Memory::kSame;
  if (!operation.sum) return has_ends(operation) ? Memory::kSame : Memory::kUnmapped;
  const auto sum = checksum(operation.ranges);
  if (!sum) return Memory::kUnmapped;
  return *sum == *operation.sum ? Memory::kSame : Memory::kChanged;
}

void report_memory(Rule rule, const Operation& operation, const std::string& what, const char* verb, const Site& site) {
  if (is_repeated(rule, operation.posted, site)) return;
  const Range range = main_range(operation);
  report({rule,
          std::string("The buffer ") + object::range_text(range.address, range.length) + " of the " +
              name_of(operation.kind) + ' ' + what + '.',
          {{"posted", operation.posted}, {verb, site}}});
}

bool is_changed_since_arrival(const Operation& operation) {
  if (!operation.after || operation.is_shared) return false;
  const auto now = sum_of_buffer(operation);
  return now && *now != *operation.after;
}

void report_memory(Rule rule, const Operation& operation, const std::string& what, const Site& site) {
  report_memory(rule, operation, what + " between the post and the completion", "completed", site);
}

}  // namespace

void Ledger::on_event(const object::Event& event, const Site& site) {
  std::unique_lock lock(mutex_);
  end_unordered_locked(0, UINT64_MAX);
  const auto evd = evds_.find(event.evd);
  if (evd != evds_.end()) {
    evd->second.is_tapped = true;
    evd->second.empty = {};
    evd->second.empties = 0;
    evd->second.look_due.reset();
  }
  if (const auto* const completion = std::get_if<DtoCompletion>(&event.body)) {
    return complete(*completion, site, lock);
  }
  check_stacks_locked(site);
  if (const auto* const notice = std::get_if<object::ConnectionNotice>(&event.body)) {
    return note_connection_locked(*notice, site);
  }
  if (std::holds_alternative<object::RmrBindCompletion>(event.body)) {
    if (evd != evds_.end() && evd->second.binds > 0) --evd->second.binds;
    return;
  }
  if (const auto* const arrival = std::get_if<object::RequestArrival>(&event.body)) {
    const auto service = objects_.find(arrival->service_point);
    const Handle ia = service == objects_.end() ? nullptr : service->second.ia;
    objects_[arrival->request] = {.kind = Kind::kCr, .ia = ia, .made = site, .ended = {}};
  }
}

// The buffers are looked at without the ledger's lock.
void Ledger::complete(const DtoCompletion& completion, const Site& site, std::unique_lock<LedgerLock>& lock) {
  SOFTDAT_DEBUG_CHECK(lock.owns_lock() && lock.mutex() == &mutex_, "the caller holds the lock of the ledger");
  OperationList done;
  done.swap(done_list_);
  SOFTDAT_DEBUG_CHECK(done.empty(), "operations that are done are out of the list", done.size());
  take_completed_locked(completion, site, done);
  if (completion.status != DtoStatus::kSuccess && !done.empty()) {
    const auto queue = queues_.find(completion.ep);
    if (queue != queues_.end()) note_failure_locked(*queue->second, *done.back(), site);
  }
  lock.unlock();
  for (const auto& operation : done) check_completed(*operation, completion, site);
  lock.lock();
  for (auto& operation : done) keep_spare_locked(std::move(operation));
  done.clear();
  done.swap(done_list_);
}

// The completed operation, and the suppressed ones before it, which are done as well.
void Ledger::take_completed_locked(const DtoCompletion& completion, const Site& site, OperationList& done) {
  base::require_lock(locks::kLedger);
  const bool is_message = is_receive(completion.operation);
  QueueRecord* const ep = find_queue_locked(completion.ep);
  QueueRecord* queue = ep;
  if (ep == nullptr) {
    take_leftover_locked(completion);
    queue = is_message ? find_shared_queue_locked(completion.cookie) : nullptr;
  } else if (is_message) {
    if (completion.status == DtoStatus::kSuccess) ++ep->received;
    if (ep->srq != nullptr) queue = find_queue_locked(ep->srq);
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
    forget_locked(operation);
    operation.is_completed = operation.is_suppressed && queue->received > operation.received;
    done.push_back(std::move(*each));
    left == 0 ? operations.pop_front() : static_cast<void>(operations.erase(each));
  }
}

// An EP that the ledger has just met may have posted before.
void Ledger::report_doubled_locked(const DtoCompletion& completion, const QueueRecord& queue, const Site& site) const {
  base::require_lock(locks::kLedger);
  if (queue.handle != completion.ep || queue.posts == 0 || has_missed_posts_.load()) return;
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
  unguard_all(queue);
}

// Searches all SRQs for the cookie: a freed EP no longer tells which SRQ it used.
QueueRecord* Ledger::find_shared_queue_locked(std::uint64_t cookie) const {
  base::require_lock(locks::kLedger);
  for (const auto& [handle, queue] : queues_) {
    const auto object = objects_.find(handle);
    if (object == objects_.end() || object->second.kind != Kind::kSrq) continue;
    const auto is_it = [&](const auto& operation) { return operation->cookie == cookie; };
    if (std::any_of(queue->receives.begin(), queue->receives.end(), is_it)) return queue.get();
  }
  return nullptr;
}

void Ledger::take_leftover_locked(const DtoCompletion& completion) {
  base::require_lock(locks::kLedger);
  for (auto& [handle, evd] : evds_) {
    const auto found = std::find_if(evd.leftovers.begin(), evd.leftovers.end(), [&](const Leftover& left) {
      return left.ep == completion.ep && left.cookie == completion.cookie;
    });
    if (found == evd.leftovers.end()) continue;
    evd.leftovers.erase(found);
    return;
  }
}

// The first that is not known to have completed.
Leftover* Ledger::find_leftover_locked(const DtoCompletion& completion) {
  base::require_lock(locks::kLedger);
  for (auto& [handle, evd] : evds_) {
    const auto found = std::find_if(evd.leftovers.begin(), evd.leftovers.end(), [&](const Leftover& left) {
      return left.ep == completion.ep && left.cookie == completion.cookie && !left.is_completed;
    });
    if (found != evd.leftovers.end()) return &*found;
  }
  return nullptr;
}

void Ledger::check_completed(const Operation& operation, const DtoCompletion& completion, const Site& site) {
  if (completion.status == DtoStatus::kLocalProtection && is_any_unmapped(operation)) {
    return report_memory(Rule::kUnmappedBuffer, operation, "was unmapped", site);
  }
  const bool is_local_key = (operation.rmr_context & kLocalMark) != 0 && operation.rmr_context != kVoidWord;
  if (completion.status == DtoStatus::kRemoteAccess && is_local_key) {
    report({Rule::kKeyMixup,
            "The remote segment has " + hex(operation.rmr_context) +
                " for an rmr_context, which is the lmr_context of the peer.",
            {{"posted", operation.posted}, {"completed", site}}});
  }
  if (completion.status != DtoStatus::kSuccess) return;
  if (has_returned(operation.owner)) {
    return report_memory(Rule::kStackBuffer, operation, "was on the stack of a function that returned", site);
  }
  // After a later message the program may use the buffer of a suppressed request: the peer may have told it to.
  if (operation.is_completed) return;
  if (is_changed_since_arrival(operation)) {
    const char* const when = "was changed between the arrival of its data and the completion";
    return report_memory(Rule::kEarlyAccess, operation, when, "completed", site);
  }
  const Memory memory = look_at(operation);
  if (memory == Memory::kChanged) report_memory(Rule::kChangedBuffer, operation, "was changed", site);
  if (memory == Memory::kUnmapped) report_memory(Rule::kUnmappedBuffer, operation, "was unmapped", site);
}

void Ledger::note_connection_locked(const object::ConnectionNotice& notice, const Site& site) {
  base::require_lock(locks::kLedger);
  const auto queue = find_queue_locked(notice.ep);
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
  check_mapped_locked(*queue, nullptr, site);
  if (QueueRecord* const shared = queue->srq == nullptr ? nullptr : find_queue_locked(queue->srq)) {
    check_mapped_locked(*shared, nullptr, site);
  }
  queue->disconnected = site;
  unguard_all(*queue);
}

void Ledger::on_no_event(Handle evd, const Site& site, bool has_waited_long) {
  const std::lock_guard lock(mutex_);
  const auto found = evds_.find(evd);
  if (found == evds_.end()) return;
  found->second.empty = site;
  found->second.empty_number = ++number_;
  ++found->second.empties;
  found->second.woken = {};
  if (!stacked_.empty() && stacked_.back()->number > stacks_checked_) check_stacks_locked(site);
  check_receives_locked(evd, site, has_waited_long);
}

// Outstanding operations whose buffers were local variables of functions that have returned.
void Ledger::check_stacks_locked(const Site& site) {
  base::require_lock(locks::kLedger);
  stacks_checked_ = number_;
  for (Operation* const operation : stacked_) {
    if (!has_returned(operation->owner)) continue;
    operation->owner = {};  // told
    report_memory(Rule::kStackBuffer, *operation, "was on the stack of a function that has returned", "seen", site);
  }
}

// The program waits for completions although nothing is outstanding that could complete. One that polls may have other
// reasons, unless it has never posted a receive.
void Ledger::check_receives_locked(Handle evd, const Site& site, bool has_waited_long) {
  base::require_lock(locks::kLedger);
  EvdRecord& record = evds_[evd];
  if (record.outstanding > 0 || record.binds > 0) return record.look_due.reset();
  const base::Time now = base::Clock::now();
  if (!record.look_due) record.look_due = now + kLongIdleness;
  if (!has_waited_long && now < *record.look_due) return;
  record.look_due = now + kTimeBetweenLooks;
  const auto dispatcher = object::pin_handle<object::EventDispatcher>(evd);
  if (!dispatcher || (dispatcher->streams() & ~(object::kDtoStream | object::kRmrBindStream)) != 0) return;
  bool is_fed = false;
  for (const auto& [handle, queue] : queues_) {
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
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(evd);
  if (found == objects_.end() || is_repeated(Rule::kWaitRefused, found->second.made, site)) return;
  report({Rule::kWaitRefused,
          "EVD " + hex(evd) + " cannot be used so: the call was refused.",
          {{"created", found->second.made}, {"refused", site}}});
}

void Ledger::on_resized(Handle evd) {
  const auto dispatcher = object::pin_handle<object::EventDispatcher>(evd);
  const std::lock_guard lock(mutex_);
  const auto found = evds_.find(evd);
  if (dispatcher && found != evds_.end()) found->second.qlen = dispatcher->qlen();
}

void Ledger::on_woken(Handle evd, const Site& site) {
  const std::lock_guard lock(mutex_);
  const auto found = evds_.find(evd);
  if (found == evds_.end()) return;
  found->second.woken = site;
  found->second.is_tapped = false;
}

void Ledger::before_cno_wait(const Site& site) {
  const std::lock_guard lock(mutex_);
  for (auto& [handle, evd] : evds_) {
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
    const std::lock_guard lock(mutex_);
    for (const auto& [handle, evd] : evds_) known.push_back(handle);
  }
  std::erase_if(known, [&](Handle handle) {
    const auto evd = object::pin_handle<object::EventDispatcher>(handle);
    return !evd || evd->query().cno != cno;
  });
  const std::lock_guard lock(mutex_);
  for (const Handle handle : known) {
    const auto evd = evds_.find(handle);
    if (evd == evds_.end()) continue;
    evd->second.empty = site;
    evd->second.empty_number = ++number_;
    ++evd->second.empties;
  }
}

}  // namespace softdat::sanitize
