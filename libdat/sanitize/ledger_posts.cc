// SPDX-License-Identifier: BSD-2-Clause
// Posts: what may not be posted, and what becomes an outstanding operation.
#include <algorithm>
#include <new>
#include <thread>

#include "base/assert.h"
#include "libdat/object/endpoint.h"
#include "libdat/object/failure_text.h"
#include "libdat/sanitize/checksum.h"
#include "libdat/sanitize/ledger.h"
#include "libdat/sanitize/settings.h"

namespace softdat::sanitize {
Ledger::Posting::Posting(Ledger& ledger, const Post& post) : ledger_(ledger) {
  {
    const std::lock_guard lock(ledger_.mutex_);
    QueueRecord* const queue = ledger_.find_queue_locked(post.queue);
    if (queue == nullptr) return;
    queue_ = queue->shared_from_this();
  }
  order_ = std::unique_lock(queue_->order);
  SOFTDAT_DEBUG_CHECK(queue_->handle == post.queue, "a record is found by the handle of its object");
  if (queue_->is_gone) return;
  operation_ = ledger_.add(post, *queue_);
  if (mode() == Mode::kCompletions) return;
  // The sum is empty if the memory cannot be read; the adapter then reports that.
  if (!stores(operation_->kind)) {
    if (!operation_->is_fed) operation_->sum = checksum(operation_->ranges);
    return;
  }
  const auto before = sum_of_buffer(*operation_);
  const std::lock_guard lock(ledger_.mutex_);
  if (operation_->is_stored) return;
  operation_->before = before;
  ledger_.guard_locked(*operation_);
}

Ledger::Posting::~Posting() {
  if (operation_ != nullptr && !is_accepted_) ledger_.take_back(*queue_, operation_);
}

void Ledger::on_window(Handle rmr, std::uint32_t rmr_context, const object::Segment& memory, bool is_zero_based) {
  const std::lock_guard lock(mutex_);
  if (memory.length == 0) {
    windows_.erase(rmr);
  } else {
    windows_[rmr] = {.rmr_context = rmr_context, .memory = memory, .is_zero_based = is_zero_based};
  }
}

std::optional<object::Segment> Ledger::find_sink(std::uint64_t address, std::uint32_t length,
                                                 std::uint32_t rmr_context) {
  const std::lock_guard lock(mutex_);
  object::Segment sink{};
  sink.address = address;
  sink.length = length;
  sink.lkey = rmr_context;
  if (regions_.contains(rmr_context)) return sink;
  for (const auto& [rmr, window] : windows_) {
    if (window.rmr_context != rmr_context) continue;
    const auto region = regions_.find(window.memory.lkey);
    if (region == regions_.end()) return std::nullopt;
    if (window.is_zero_based) sink.address += window.memory.address;
    sink.lkey = window.memory.lkey;
    return sink;
  }
  return std::nullopt;
}

// Null: there is no such object.
QueueRecord* Ledger::find_queue_locked(Handle handle) {
  base::require_lock(locks::kLedger);
  const auto found = queues_.find(handle);
  if (found != queues_.end() && found->second->is_known) return found->second.get();
  const bool is_there = object::HandleTable::instance().pin_any(handle).get() != nullptr;
  if (!is_there) return nullptr;
  // Made first: without memory there must not be an entry that is null.
  auto queue = found != queues_.end() ? found->second : std::make_shared<QueueRecord>();
  if (found == queues_.end()) queues_.emplace(handle, queue);
  queue->handle = handle;
  look_up_locked(*queue);
  return queue.get();
}

// The adapter may wait for the ledger's lock with the baton, so nothing here waits for a lock of the EP's: it is asked
// a few times, and again at its next call.
void Ledger::look_up_locked(QueueRecord& queue) {
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

Operation* Ledger::add(const Post& post, QueueRecord& queue) {
  base::require_lock(locks::kPostOrder);
  const std::lock_guard lock(mutex_);
  auto made = make_operation_locked(post, queue);
  Operation& operation = *made;
  check_post_locked(post, queue, operation);
  ++queue.posts;
  if (post.kind == OperationKind::kReceive && ++queue.posted_receives == 1) queue.posted = post.site;
  auto& operations = post.kind == OperationKind::kReceive ? queue.receives : queue.requests;
  operations.push_back(std::move(made));
  try {
    check_room_locked(operation);
    if (operation.owner.frame != 0) stacked_.push_back(&operation);
    check_clash_locked(operation);
  } catch (const std::bad_alloc&) {
    forget_locked(operation);
    operations.pop_back();
    throw;
  }
  SOFTDAT_DEBUG_CHECK(operation.is_indexed, "an outstanding operation is in the index");
  return &operation;
}

std::unique_ptr<Operation> Ledger::make_operation_locked(const Post& post, const QueueRecord& queue) {
  base::require_lock(locks::kLedger);
  auto operation = spares_.empty() ? std::make_unique<Operation>() : std::move(spares_.back());
  if (!spares_.empty()) spares_.pop_back();
  operation->kind = post.kind;
  if (post.kind == OperationKind::kRead) has_read_.store(true, std::memory_order_relaxed);
  operation->queue = post.queue;
  operation->evd = post.kind == OperationKind::kReceive ? queue.recv_evd : queue.request_evd;
  operation->cookie = post.cookie;
  operation->number = ++number_;
  operation->is_suppressed = (post.flags & object::kSuppressFlag) != 0;
  operation->is_fenced = (post.flags & object::kBarrierFenceFlag) != 0;
  operation->received = queue.received;
  operation->rmr_context = post.rmr_context;
  operation->posted = post.site;
  operation->ranges.reserve(post.local.size());
  for (const object::Segment& segment : post.local) {
    Range range{.address = segment.address, .length = segment.length, .lkey = segment.lkey};
    const auto region = regions_.find(segment.lkey);
    if (region != regions_.end()) {
      if (region->second.is_zero_based) range.address += region->second.address;
      ++region->second.operations;
      region->second.used |= stores(post.kind) ? object::kLocalWritePrivilege : object::kLocalReadPrivilege;
      // The sink of an RDMA read needs this right on iWARP.
      if (post.kind == OperationKind::kRead) region->second.used |= object::kRemoteWritePrivilege;
    }
    operation->ranges.push_back(range);
  }
  if (!operation->ranges.empty()) operation->owner = find_owner(operation->ranges.front().address);
  return operation;
}

void Ledger::keep_spare_locked(std::unique_ptr<Operation> operation) {
  base::require_lock(locks::kLedger);
  SOFTDAT_DEBUG_CHECK(!operation->is_indexed && !operation->is_guarded, "an operation that is over holds no memory");
  if (spares_.size() == spares_.capacity()) return;
  std::vector<Range> ranges = std::move(operation->ranges);
  ranges.clear();
  *operation = {};
  operation->ranges = std::move(ranges);
  spares_.push_back(std::move(operation));
}

void Ledger::check_post_locked(const Post& post, const QueueRecord& queue, const Operation& operation) {
  base::require_lock(locks::kLedger);
  check_keys_locked(post);
  check_stack_locked(operation);
  bool has_void = post.cookie == kVoidLong || post.rmr_context == kVoidWord || post.has_void_length;
  for (const object::Segment& segment : post.local) has_void = has_void || segment.address == kVoidLong;
  if (has_void) {
    report({Rule::kVoidField,
            std::string("An argument of the ") + name_of(post.kind) + " is the value of an event's field that is void.",
            {{"used", post.site}}});
  }
  if (queue.disconnected.call == nullptr) return;
  if (is_repeated(Rule::kPostAfterDisconnect, queue.disconnected, post.site)) return;
  report({Rule::kPostAfterDisconnect,
          std::string("The ") + name_of(post.kind) + " was posted on EP " + hex(post.queue) +
              ", whose connection has ended.",
          {{"disconnected", queue.disconnected}, {"posted", post.site}}});
}

void Ledger::check_keys_locked(const Post& post) {
  base::require_lock(locks::kLedger);
  for (const object::Segment& segment : post.local) {
    if (segment.length == 0 || regions_.contains(segment.lkey)) continue;
    if (const auto ended = ended_regions_.find(segment.lkey); ended != ended_regions_.end()) {
      report(
          {Rule::kFreedRegion,
           "The LMR of the local segment " + object::range_text(segment.address, segment.length) + " has been freed.",
           {{"registered", ended->second.first}, {"freed", ended->second.second}, {"posted", post.site}}});
      continue;
    }
    // The program sees lkeys with the mark; a key without it comes here with the mark.
    const auto region = regions_.find(segment.lkey ^ kLocalMark);
    if (region == regions_.end()) continue;
    report({Rule::kKeyMixup,
            "The local segment " + object::range_text(segment.address, segment.length) + " has the rmr_context " +
                hex(region->second.rkey) + " in place of the lmr_context " + hex(region->second.lkey ^ kLocalMark) +
                '.',
            {{"registered", region->second.made}, {"posted", post.site}}});
  }
}

void Ledger::check_stack_locked(const Operation& operation) {
  base::require_lock(locks::kLedger);
  if (operation.ranges.empty()) return;
  const Range& range = operation.ranges.front();
  const auto region = regions_.find(range.lkey);
  const bool is_below = operation.owner.thread != nullptr && operation.owner.frame == 0;
  const bool is_of_returned = region != regions_.end() && has_returned(region->second.owner);
  if (!is_below && !is_of_returned) return;
  Finding finding{Rule::kStackBuffer,
                  "The buffer " + object::range_text(range.address, range.length) +
                      " was on the stack of a function that has returned.",
                  {}};
  if (region != regions_.end()) finding.steps.push_back({"registered", region->second.made});
  finding.steps.push_back({"posted", operation.posted});
  report(finding);
}

// Whether the program may know that it is done, though it dequeues no completion for it.
bool Ledger::is_settled_locked(const Operation& operation) {
  base::require_lock(locks::kLedger);
  if (operation.is_completed) return true;
  if (!operation.is_suppressed) return false;
  const auto queue = queues_.find(operation.queue);
  if (queue != queues_.end() && queue->second->received > operation.received) return true;
  const auto ep = object::pin_handle<object::Endpoint>(operation.queue);
  return !ep || ep->status().is_request_idle;
}

// The same for what uses its bytes. A read is not over because it has been answered: its data is there only after a
// completion.
bool Ledger::is_brought_locked(const Operation& operation) {
  base::require_lock(locks::kLedger);
  return fetches(operation.kind) ? operation.is_completed : is_settled_locked(operation);
}

void Ledger::check_clash_locked(Operation& operation) {
  base::require_lock(locks::kLedger);
  RangeIndex::Clash clash = index_.find_clash(operation);
  while (clash.operation != nullptr && is_brought_locked(*clash.operation)) {
    index_.remove(*clash.operation);
    clash = index_.find_clash(operation);
  }
  index_.add(operation);
  if (clash.operation == nullptr) return;
  Operation& earlier = *clash.operation;
  earlier.is_shared = true;
  operation.is_shared = true;
  operation.is_fed = fetches(earlier.kind) && earlier.queue == operation.queue && !stores(operation.kind);
  if (operation.is_fed && operation.is_fenced) return;
  const Rule rule = operation.is_fed ? Rule::kMissingFence : Rule::kOverlap;
  if (is_repeated(rule, earlier.posted, operation.posted)) return;
  report_use_locked(rule, earlier,
                    std::string("The ") + name_of(operation.kind) + " and an outstanding " + name_of(earlier.kind) +
                        " use the same memory " + object::range_text(clash.address, clash.length) + '.',
                    {"posted", operation.posted});
}

void Ledger::check_room_locked(const Operation& operation) {
  base::require_lock(locks::kLedger);
  if (operation.is_suppressed) return;
  const auto evd = evds_.find(operation.evd);
  if (evd == evds_.end() || ++evd->second.outstanding <= evd->second.qlen) return;
  const Site made = objects_[operation.evd].made;
  if (is_repeated(Rule::kEvdTooSmall, made, operation.posted)) return;
  report({Rule::kEvdTooSmall,
          "EVD " + hex(operation.evd) + " has room for " + std::to_string(evd->second.qlen) +
              (evd->second.qlen == 1 ? " event" : " events") + "; " + std::to_string(evd->second.outstanding) +
              " operations whose completions it takes are outstanding.",
          {{"created", made}, {"posted", operation.posted}}});
}

// A breach that follows one answer without an event is told as such: the program took it for the completion. After
// several it has been polling.
void Ledger::report_use_locked(Rule rule, const Operation& operation, const std::string& what, const Step& last) {
  base::require_lock(locks::kLedger);
  Finding finding{rule, what, {{"posted", operation.posted}}};
  const auto evd = evds_.find(operation.evd);
  if (evd != evds_.end() && evd->second.empties == 1 && evd->second.empty_number > operation.number) {
    finding.rule = Rule::kTimeoutTaken;
    finding.what = what + " No event was found for it: " + text_of(rule).rule;
    finding.steps.push_back({"no event found", evd->second.empty});
  }
  finding.steps.push_back(last);
  report(finding);
}

// It is out of the index and of the room of its EVD.
void Ledger::forget_locked(Operation& operation) {
  base::require_lock(locks::kLedger);
  unguard(operation);
  index_.remove(operation);
  std::erase(stacked_, &operation);
  if (operation.is_suppressed) return;
  const auto evd = evds_.find(operation.evd);
  if (evd != evds_.end() && evd->second.outstanding > 0) --evd->second.outstanding;
}

void Ledger::forget_all_locked(QueueRecord& queue) {
  base::require_lock(locks::kLedger);
  for (auto* const operations : {&queue.receives, &queue.requests}) {
    for (const auto& operation : *operations) forget_locked(*operation);
    operations->clear();
  }
}

// The object has ended. Waits for a thread that posts to it at this moment, which uses its operation without the
// ledger's lock.
void Ledger::drop_queue(Handle handle) {
  std::shared_ptr<QueueRecord> queue;
  {
    const std::lock_guard lock(mutex_);
    const auto found = queues_.find(handle);
    if (found == queues_.end()) return;
    queue = found->second;
  }
  const std::lock_guard order(queue->order);
  const std::lock_guard lock(mutex_);
  forget_all_locked(*queue);
  SOFTDAT_DEBUG_CHECK(queue->receives.empty() && queue->requests.empty(), "a queue that has gone has no operations");
  queue->is_gone = true;
  if (const auto found = queues_.find(handle); found != queues_.end() && found->second == queue) queues_.erase(found);
}

void Ledger::take_back(QueueRecord& queue, const Operation* operation) {
  base::require_lock(locks::kPostOrder);
  const std::lock_guard lock(mutex_);
  for (auto* const operations : {&queue.receives, &queue.requests}) {
    const auto is_it = [&](const auto& each) { return each.get() == operation; };
    // The last, unless a completion was taken meanwhile.
    const auto found = std::find_if(operations->rbegin(), operations->rend(), is_it);
    if (found == operations->rend()) continue;
    forget_locked(**found);
    operations->erase(std::next(found).base());
    return;
  }
}

}  // namespace softdat::sanitize
