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
  const std::lock_guard lock(mutex_);
  const auto lkey = lkeys_.find(lmr);
  if (lkey == lkeys_.end()) return;
  const auto region = regions_.find(lkey->second);
  if (region == regions_.end()) return;
  for (const auto& [handle, queue] : queues_) check_mapped_locked(*queue, &region->second.lkey, site);
  check_region_locked(region->second, site);
  const auto object = objects_.find(lmr);
  const std::uint32_t operations = region->second.operations;
  if (object != objects_.end() && operations > 0 && operations <= kFewOperations) {
    ++used_registrations_[{region->second.made.place, object->second.ia}];
  }
  ended_regions_[region->second.lkey] = {region->second.made, site};
  end_unordered_locked(region->second.address, region->second.length);
  before_registration(region->second.address, region->second.length);
  regions_.erase(region);
  lkeys_.erase(lkey);
}

bool Ledger::uses(const Operation& operation, std::uint32_t lkey) {
  return std::any_of(operation.ranges.begin(), operation.ranges.end(),
                     [&](const Range& range) { return range.lkey == lkey; });
}

// Whether the program knows that no operation of the queue uses memory any more, or has no cause to think that one
// does.
bool Ledger::is_over_locked(const QueueRecord& queue) const {
  base::require_lock(locks::kLedger);
  const auto object = objects_.find(queue.handle);
  const bool is_shared = object != objects_.end() && object->second.kind == Kind::kSrq;
  if (!is_shared) return queue.disconnected.call != nullptr;
  return std::none_of(queues_.begin(), queues_.end(), [&](const auto& each) {
    const QueueRecord& user = *each.second;
    return user.srq == queue.handle && user.was_connected && user.disconnected.call == nullptr;
  });
}

// Operations of the region, or of all regions, whose memory has gone.
void Ledger::check_mapped_locked(QueueRecord& queue, const std::uint32_t* lkey, const Site& site) {
  base::require_lock(locks::kLedger);
  if (is_over_locked(queue)) return;
  for (auto* const operations : {&queue.receives, &queue.requests}) {
    for (const auto& operation : *operations) {
      if (lkey == nullptr || uses(*operation, *lkey)) unguard(*operation);  // guarded pages look unmapped
      const auto is_gone = [&](const Range& range) {
        return (lkey == nullptr || range.lkey == *lkey) && range.length != 0 &&
               !object::is_readable(range.address, range.length);
      };
      const auto gone = std::find_if(operation->ranges.begin(), operation->ranges.end(), is_gone);
      if (gone == operation->ranges.end() || is_settled_locked(*operation)) continue;
      if (is_repeated(Rule::kUnmappedBuffer, operation->posted, site)) continue;
      report({Rule::kUnmappedBuffer,
              "The buffer " + object::range_text(gone->address, gone->length) + " of the outstanding " +
                  name_of(operation->kind) + " has been unmapped.",
              {{"posted", operation->posted}, {"seen", site}}});
    }
  }
}

void Ledger::check_region_locked(const RegionRecord& region, const Site& site) {
  base::require_lock(locks::kLedger);
  for (const auto& [handle, queue] : queues_) {
    for (const auto* const operations : {&queue->receives, &queue->requests}) {
      for (const auto& operation : *operations) {
        const auto uses = [&](const Range& range) { return range.lkey == region.lkey && range.length != 0; };
        const auto used = std::find_if(operation->ranges.begin(), operation->ranges.end(), uses);
        if (used == operation->ranges.end() || is_settled_locked(*operation) || is_over_locked(*queue)) continue;
        if (is_repeated(Rule::kFreedRegion, operation->posted, site)) continue;
        report_use_locked(Rule::kFreedRegion, *operation,
                          "The LMR " + hex(region.lmr) + " of the buffer " +
                              object::range_text(used->address, used->length) + " was freed while a " +
                              name_of(operation->kind) + " uses it.",
                          {"freed", site});
      }
    }
  }
  check_rights_locked(region, site);
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

void Ledger::on_reconfigured(Handle ep) {
  const std::lock_guard lock(mutex_);
  if (const auto queue = queues_.find(ep); queue != queues_.end()) queue->second->is_known = false;
}

void Ledger::on_bound(Handle ep) {
  const std::lock_guard lock(mutex_);
  const auto queue = find_queue_locked(ep);
  if (queue == nullptr) return;
  if (const auto evd = evds_.find(queue->request_evd); evd != evds_.end()) ++evd->second.binds;
}

// Requests that are done, though the program has not dequeued their completions: a graceful disconnect ends them first.
void Ledger::mark_completed_locked(QueueRecord& queue, bool is_graceful) {
  base::require_lock(locks::kLedger);
  const auto ep = object::pin_handle<object::Endpoint>(queue.handle);
  if (!ep || ep->state() != object::EndpointState::kConnected) return;
  if (!is_graceful && !ep->status().is_request_idle) return;
  for (const auto& operation : queue.requests) operation->is_completed = true;
}

void Ledger::before_disconnect(Handle ep, bool is_graceful, const Site& site) {
  const std::lock_guard lock(mutex_);
  check_stacks_locked(site);
  const auto queue = queues_.find(ep);
  if (queue == queues_.end()) return;
  mark_completed_locked(*queue->second, is_graceful);
  check_mapped_locked(*queue->second, nullptr, site);
}

void Ledger::on_status_seen(Handle ep, const Site& site) {
  const std::lock_guard lock(mutex_);
  const auto found = queues_.find(ep);
  const auto pinned = object::pin_handle<object::Endpoint>(ep);
  if (found == queues_.end() || !pinned) return;
  QueueRecord& queue = *found->second;
  if (queue.was_connected && pinned->state() == object::EndpointState::kDisconnected) queue.disconnected = site;
  if (!pinned->status().is_request_idle) return;
  for (const auto& operation : queue.requests) {
    operation->is_completed = operation->is_suppressed;
    operation->after.reset();  // the program may know that the data is there
  }
}

void Ledger::on_disconnected(Handle ep, const Site& site) {
  const std::lock_guard lock(mutex_);
  const auto queue = find_queue_locked(ep);
  if (queue == nullptr || !queue->was_connected) return;
  queue->disconnected = site;
  unguard_all(*queue);
}

void Ledger::on_reset(Handle ep) {
  const std::lock_guard lock(mutex_);
  const auto queue = queues_.find(ep);
  if (queue == queues_.end()) return;
  queue->second->disconnected = {};
  queue->second->was_connected = false;
  queue->second->is_known = false;
  queue->second->posted = {};
  queue->second->posted_receives = 0;
  queue->second->reset_number = ++number_;
}

// The provider says that nothing is outstanding, nothing waits in the EVD, and yet a completion never came. An EVD that
// overflows loses completions, and the provider tells so.
void Ledger::check_lost_locked(QueueRecord& queue, const Site& site) {
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
      if (!evd || evd->has_overflowed() || evd->pending() > 0) continue;
      if (is_repeated(Rule::kLostCompletion, operation->posted, site)) continue;
      report({Rule::kLostCompletion,
              std::string("The ") + name_of(operation->kind) + " with the cookie " + hex(operation->cookie) +
                  " of EP " + hex(queue.handle) + " never completed.",
              {{"posted", operation->posted}, {"freed", site}}});
    }
  };
  check(queue.requests, status.is_request_idle);
  if (queue.srq == nullptr) check(queue.receives, status.is_recv_idle);
}

void Ledger::before_ep_free(Handle ep, const Site& site) {
  const std::lock_guard lock(mutex_);
  const auto found = queues_.find(ep);
  if (found == queues_.end()) return;
  QueueRecord& queue = *found->second;
  check_lost_locked(queue, site);
  mark_completed_locked(queue, false);
  for (const auto& operation : queue.requests) {
    const auto evd = evds_.find(operation->evd);
    const bool is_given_up = queue.is_broken && !operation->is_completed;
    if (operation->is_suppressed || is_given_up || evd == evds_.end()) continue;
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

void Ledger::report_leftovers_locked(EvdRecord& evd) {
  base::require_lock(locks::kLedger);
  for (const Leftover& left : evd.leftovers) {
    if (!left.is_completed || is_repeated(Rule::kIgnoredCompletion, left.posted, left.posted)) continue;
    report({Rule::kIgnoredCompletion,
            std::string("The completion of the ") + name_of(left.kind) + " was never dequeued.",
            {{"posted", left.posted}}});
  }
  evd.leftovers.clear();
}

// Whether completions may still come to the EVD, or the program may want to look at those that are there.
bool Ledger::is_fed(Handle evd) {
  const std::lock_guard lock(mutex_);
  return std::any_of(queues_.begin(), queues_.end(),
                     [&](const auto& each) { return each.second->recv_evd == evd || each.second->request_evd == evd; });
}

// Only the completions that are left tell whether the requests of a freed EP succeeded before the peer disconnected.
// REQUIRES: the EVD is about to end. Events of connection requests are not taken: their end refuses the request.
void Ledger::take_left_completions(Handle evd) {
  const auto dispatcher = object::pin_handle<object::EventDispatcher>(evd);
  if (!dispatcher || dispatcher->completion_queue() == nullptr || dispatcher->takes(object::kCrStream)) return;
  object::Event event;
  while (dispatcher->pending() > 0 && dispatcher->dequeue(event).ok()) {
    const auto* const completion = std::get_if<object::DtoCompletion>(&event.body);
    if (completion == nullptr || completion->status != object::DtoStatus::kSuccess) continue;
    const std::lock_guard lock(mutex_);
    if (Leftover* const left = find_leftover_locked(*completion)) left->is_completed = true;
  }
}

void Ledger::before_evd_free(Handle evd) {
  if (!is_fed(evd)) take_left_completions(evd);
  const std::lock_guard lock(mutex_);
  if (const auto found = evds_.find(evd); found != evds_.end()) report_leftovers_locked(found->second);
}

// Also those that a graceful close does not ask for: requests that the program has not answered.
void Ledger::report_leaks_locked(Handle ia, const char* how, const Site& site) {
  base::require_lock(locks::kLedger);
  std::map<std::pair<Kind, const void*>, std::pair<const ObjectRecord*, std::uint32_t>> left;
  std::uint32_t kinds = 0;
  for (const auto& [handle, object] : objects_) {
    const bool is_child = object.ia == ia && handle != ia && object.ended.call == nullptr;
    if (!is_child || call_name(object.made) == "dat_ia_open") continue;
    auto& [first, times] = left[{object.kind, object.made.place}];
    first = &object;
    ++times;
    kinds |= 1U << static_cast<unsigned>(object.kind);
  }
  // A program that leaves everything to an abrupt close means it.
  if (how == kAbruptly && std::popcount(freed_[ia]) <= std::popcount(kinds)) return;
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
  const auto ep = objects_.find(error->object);
  return ep == objects_.end() || call_name(ep->second.made) != "dat_ep_create_with_srq";
}

void Ledger::before_close(Handle ia, const Site& site) {
  Handle async = nullptr;
  if (const auto adapter = object::pin_handle<object::InterfaceAdapter>(ia)) async = adapter->async_evd();
  const auto evd = object::pin_handle<object::EventDispatcher>(async);
  // Without the ledger's lock: the adapter may make progress.
  const std::vector<object::Event> left = evd ? look_at_events(*evd) : std::vector<object::Event>();
  const std::lock_guard lock(mutex_);
  const auto unread = std::count_if(left.begin(), left.end(), [&](const auto& each) { return is_error_locked(each); });
  if (unread == 0) return;
  report({Rule::kAsyncUnread,
          std::to_string(unread) + (unread == 1 ? " asynchronous error was" : " asynchronous errors were") +
              " not dequeued before the adapter was closed.",
          {{"opened", objects_[ia].made}, {"closed", site}}});
}

void Ledger::before_abrupt_close(Handle ia, const Site& site) {
  {
    const std::lock_guard lock(mutex_);
    report_leaks_locked(ia, kAbruptly, site);
  }
  for (const Handle ep : queues_of(ia)) before_ep_free(ep, site);
  for (const Handle evd : evds_of(ia)) take_left_completions(evd);
}

std::vector<Handle> Ledger::evds_of(Handle ia) {
  const std::lock_guard lock(mutex_);
  std::vector<Handle> evds;
  for (const auto& [handle, evd] : evds_) {
    const auto object = objects_.find(handle);
    if (object != objects_.end() && object->second.ia == ia) evds.push_back(handle);
  }
  return evds;
}

// The live EPs and SRQs of the adapter.
std::vector<Handle> Ledger::queues_of(Handle ia) {
  const std::lock_guard lock(mutex_);
  std::vector<Handle> queues;
  for (const auto& [handle, object] : objects_) {
    const bool is_queue = object.kind == Kind::kEp || object.kind == Kind::kSrq;
    if (is_queue && object.ia == ia && object.ended.call == nullptr) queues.push_back(handle);
  }
  return queues;
}

void Ledger::on_close_refused(Handle ia, const Site& site) {
  const std::lock_guard lock(mutex_);
  report_leaks_locked(ia, kRefused, site);
}

void Ledger::on_closed(Handle ia, bool is_graceful, const Site& site) {
  for (const Handle queue : queues_of(ia)) drop_queue(queue);
  const std::lock_guard lock(mutex_);
  if (is_graceful) report_leaks_locked(ia, kGracefully, site);
  for (auto& [handle, object] : objects_) {
    if (object.ia != ia || object.ended.call != nullptr) continue;
    object.ended = site;
    if (const auto evd = evds_.find(handle); evd != evds_.end()) {
      report_leftovers_locked(evd->second);
      evds_.erase(evd);
    }
    if (const auto lkey = lkeys_.find(handle); lkey != lkeys_.end()) {
      regions_.erase(lkey->second);
      lkeys_.erase(lkey);
    }
  }
  freed_.erase(ia);
}

}  // namespace softdat::sanitize
