// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/sanitize/ledger_posts.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "libdat/object/failure_text.h"
#include "libdat/object/memory_region.h"
#include "libdat/sanitize/checksum.h"
#include "libdat/sanitize/finding.h"
#include "libdat/sanitize/marks.h"
#include "libdat/sanitize/settings.h"

namespace softdat::sanitize {

LedgerPosts::Posting::Posting(LedgerPosts& posts, const Post& post) : posts_(posts) {
  {
    const std::lock_guard lock(posts_.state_.mutex);
    QueueRecord* const queue = posts_.queues_.find_locked(post.queue);
    if (queue == nullptr) return;
    queue_ = queue->shared_from_this();
  }
  // Held until the post has returned, so that operations stand in the order in which the adapter got them.
  order_ = std::unique_lock(queue_->order);
  SOFTDAT_DEBUG_CHECK(queue_->handle == post.queue, "a record is found by the handle of its object");
  if (queue_->is_gone) return;
  operation_ = posts_.add(post, *queue_);
  if (mode() == Mode::kCompletions) return;
  // The sum is empty if the memory cannot be read; the adapter then reports that.
  if (!stores(operation_->kind)) {
    if (!operation_->is_fed) operation_->sum = checksum(operation_->ranges);
    return;
  }
  const auto before = sum_of_buffer(*operation_);
  const std::lock_guard lock(posts_.state_.mutex);
  // The data has come while the sum was made.
  if (operation_->is_stored) return;
  operation_->before = before;
  posts_.guards_.guard_locked(*operation_);
}

LedgerPosts::Posting::~Posting() {
  if (operation_ != nullptr && !is_accepted_) posts_.take_back(*queue_, operation_);
}

Operation* LedgerPosts::add(const Post& post, QueueRecord& queue) {
  base::require_lock(locks::kPostOrder);
  const std::lock_guard lock(state_.mutex);
  auto made = make_operation_locked(post, queue);
  Operation& operation = *made;
  check_post_locked(post, queue, operation);
  ++queue.posts;
  if (post.kind == OperationKind::kReceive && ++queue.posted_receives == 1) queue.posted = post.site;
  auto& operations = post.kind == OperationKind::kReceive ? queue.receives : queue.requests;
  operations.push_back(std::move(made));
  try {
    check_room_locked(operation);
    if (operation.owner.frame != 0) state_.stacked.push_back(&operation);
    check_clash_locked(operation);
    // Takes out what was entered: the post is made without being noted.
  } catch (const std::bad_alloc&) {
    queues_.forget_locked(operation);
    operations.pop_back();
    throw;
  }
  SOFTDAT_DEBUG_CHECK(operation.is_indexed, "an outstanding operation is in the index");
  return &operation;
}

std::unique_ptr<Operation> LedgerPosts::make_operation_locked(const Post& post, const QueueRecord& queue) {
  base::require_lock(locks::kLedger);
  // Operations are used again, so that a post seldom takes memory.
  auto operation = state_.spares.empty() ? std::make_unique<Operation>() : std::move(state_.spares.back());
  if (!state_.spares.empty()) state_.spares.pop_back();
  operation->kind = post.kind;
  if (post.kind == OperationKind::kRead) state_.has_read.store(true, std::memory_order_relaxed);
  operation->queue = post.queue;
  operation->evd = post.kind == OperationKind::kReceive ? queue.recv_evd : queue.request_evd;
  operation->cookie = post.cookie;
  operation->number = ++state_.number;
  operation->is_suppressed = (post.flags & object::kSuppressFlag) != 0;
  operation->is_fenced = (post.flags & object::kBarrierFenceFlag) != 0;
  operation->received = queue.received;
  operation->rmr_context = post.rmr_context;
  operation->posted = post.site;
  operation->ranges.reserve(post.local.size());
  for (const object::Segment& segment : post.local) {
    Range range{.address = segment.address, .length = segment.length, .lkey = segment.lkey};
    const auto region = state_.regions.find(segment.lkey);
    if (region != state_.regions.end()) {
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

void LedgerPosts::keep_spare_locked(std::unique_ptr<Operation> operation) {
  base::require_lock(locks::kLedger);
  SOFTDAT_DEBUG_CHECK(!operation->is_indexed && !operation->is_guarded, "an operation that is over holds no memory");
  if (state_.spares.size() == state_.spares.capacity()) return;
  std::vector<Range> ranges = std::move(operation->ranges);
  ranges.clear();
  // Made anew in its place: an assignment would write each member twice.
  std::destroy_at(operation.get());
  std::construct_at(operation.get())->ranges = std::move(ranges);
  state_.spares.push_back(std::move(operation));
}

void LedgerPosts::take_back(QueueRecord& queue, const Operation* operation) {
  base::require_lock(locks::kPostOrder);
  const std::lock_guard lock(state_.mutex);
  for (auto* const operations : {&queue.receives, &queue.requests}) {
    const auto is_it = [&](const auto& each) { return each.get() == operation; };
    // The last, unless a completion was taken meanwhile.
    const auto found = std::find_if(operations->rbegin(), operations->rend(), is_it);
    if (found == operations->rend()) continue;
    queues_.forget_locked(**found);
    operations->erase(std::next(found).base());
    return;
  }
}

void LedgerPosts::check_post_locked(const Post& post, const QueueRecord& queue, const Operation& operation) {
  base::require_lock(locks::kLedger);
  check_stack_locked(operation, check_keys_locked(post));
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

const RegionRecord* LedgerPosts::check_keys_locked(const Post& post) {
  base::require_lock(locks::kLedger);
  const RegionRecord* first = nullptr;
  for (const object::Segment& segment : post.local) {
    const auto named = state_.regions.find(segment.lkey);
    if (named != state_.regions.end() && &segment == post.local.data()) first = &named->second;
    if (named != state_.regions.end() || segment.length == 0) continue;
    if (const auto ended = state_.ended_regions.find(segment.lkey); ended != state_.ended_regions.end()) {
      report(
          {Rule::kFreedRegion,
           "The LMR of the local segment " + object::range_text(segment.address, segment.length) + " has been freed.",
           {{"registered", ended->second.first}, {"freed", ended->second.second}, {"posted", post.site}}});
      continue;
    }
    // The program sees lkeys with the mark; a key without it comes here with the mark.
    const auto region = state_.regions.find(segment.lkey ^ kLocalMark);
    if (region == state_.regions.end()) continue;
    report({Rule::kKeyMixup,
            "The local segment " + object::range_text(segment.address, segment.length) + " has the rmr_context " +
                hex(region->second.rkey) + " in place of the lmr_context " + hex(region->second.lkey ^ kLocalMark) +
                '.',
            {{"registered", region->second.made}, {"posted", post.site}}});
  }
  return first;
}

void LedgerPosts::check_stack_locked(const Operation& operation, const RegionRecord* region) {
  base::require_lock(locks::kLedger);
  if (operation.ranges.empty()) return;
  const Range& range = operation.ranges.front();
  const bool is_below = operation.owner.thread != nullptr && operation.owner.frame == 0;
  const bool is_of_returned = region != nullptr && has_returned(region->owner);
  if (!is_below && !is_of_returned) return;
  Finding finding{Rule::kStackBuffer,
                  "The buffer " + object::range_text(range.address, range.length) +
                      " was on the stack of a function that has returned.",
                  {}};
  if (region != nullptr) finding.steps.push_back({"registered", region->made});
  finding.steps.push_back({"posted", operation.posted});
  report(finding);
}

void LedgerPosts::check_room_locked(const Operation& operation) {
  base::require_lock(locks::kLedger);
  if (operation.is_suppressed) return;
  const auto evd = state_.evds.find(operation.evd);
  if (evd == state_.evds.end() || ++evd->second.outstanding <= evd->second.qlen) return;
  const Site made = state_.objects[operation.evd].made;
  if (is_repeated(Rule::kEvdTooSmall, made, operation.posted)) return;
  report({Rule::kEvdTooSmall,
          "EVD " + hex(operation.evd) + " has room for " + std::to_string(evd->second.qlen) +
              (evd->second.qlen == 1 ? " event" : " events") + "; " + std::to_string(evd->second.outstanding) +
              " operations whose completions it takes are outstanding.",
          {{"created", made}, {"posted", operation.posted}}});
}

void LedgerPosts::check_clash_locked(Operation& operation) {
  base::require_lock(locks::kLedger);
  RangeIndex::Clash clash = state_.index.find_clash(operation);
  // Operations whose data is known to be there leave the index only when they clash.
  while (clash.operation != nullptr && queues_.is_brought_locked(*clash.operation)) {
    state_.index.remove(*clash.operation);
    clash = state_.index.find_clash(operation);
  }
  state_.index.add(operation);
  if (clash.operation == nullptr) return;
  Operation& earlier = *clash.operation;
  earlier.is_shared = true;
  operation.is_shared = true;
  operation.is_fed = fetches(earlier.kind) && earlier.queue == operation.queue && !stores(operation.kind);
  if (operation.is_fed && operation.is_fenced) return;
  const Rule rule = operation.is_fed ? Rule::kMissingFence : Rule::kOverlap;
  if (is_repeated(rule, earlier.posted, operation.posted)) return;
  buffers_.report_use_locked(rule, earlier,
                             std::string("The ") + name_of(operation.kind) + " and an outstanding " +
                                 name_of(earlier.kind) + " use the same memory " +
                                 object::range_text(clash.address, clash.length) + '.',
                             {"posted", operation.posted});
}

}  // namespace softdat::sanitize
