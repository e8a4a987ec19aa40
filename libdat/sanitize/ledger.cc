// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/sanitize/ledger.h"

#include <pthread.h>

#include <algorithm>
#include <array>

#include "base/fault_guard.h"
#include "base/uncancelled.h"
#include "libdat/object/event_dispatcher.h"
#include "libdat/object/failure_text.h"
#include "libdat/object/handle_table.h"
#include "libdat/sanitize/page_guard.h"
#include "libdat/sanitize/settings.h"

namespace softdat::sanitize {
namespace {

// A program that registers the same memory so often at one place does it in a loop.
constexpr std::uint32_t kLoop = 16;

[[gnu::destructor]] void report_at_exit() {
  if (mode() == Mode::kFull) PageGuard::instance().tell_accesses();
  if (mode() != Mode::kOff) report_counts();
}

}  // namespace

const char* kind_text(Kind kind) {
  return kind == Kind::kCr ? "connection request" : object::name_of(kind);
}

Ledger::Ledger() {
  spares_.reserve(kSpares);
  const base::Uncancelled guard;
  // Checksums read memory that may be gone.
  base::install_fault_guard();
  ::pthread_atfork(prepare_for_fork, continue_in_parent, start_afresh_in_child);
}

Ledger& Ledger::instance() {
  static auto* const ledger = new Ledger;  // Used until the very end of the process.
  return *ledger;
}

void Ledger::prepare_for_fork() {
  instance().mutex_.lock();
  if (mode() == Mode::kFull) PageGuard::instance().prepare_for_fork();
}

void Ledger::continue_in_parent() {
  if (mode() == Mode::kFull) PageGuard::instance().continue_after_fork(false);
  instance().mutex_.unlock();
}

// A child begins with an empty ledger. The parent's queues are leaked, because another thread may have held the lock of
// one.
void Ledger::start_afresh_in_child() {
  if (mode() == Mode::kFull) PageGuard::instance().continue_after_fork(true);
  Ledger& ledger = instance();
  ledger.objects_.clear();
  new std::unordered_map(std::move(ledger.queues_));
  ledger.queues_.clear();
  ledger.evds_.clear();
  ledger.regions_.clear();
  ledger.lkeys_.clear();
  ledger.ended_regions_.clear();
  ledger.freed_.clear();
  ledger.registrations_.clear();
  ledger.used_registrations_.clear();
  ledger.stacked_.clear();
  ledger.private_data_.clear();
  ledger.index_.clear();
  ledger.windows_.clear();
  ledger.unordered_.clear();
  ledger.mutex_.unlock();
}

void Ledger::on_made(Handle handle, Kind kind, Handle ia, const Site& site) {
  std::int32_t qlen = 0;
  if (kind == Kind::kEvd) {
    if (const auto evd = object::pin_handle<object::EventDispatcher>(handle)) qlen = evd->qlen();
  }
  drop_queue(handle);  // of an object that had the handle before
  const std::lock_guard lock(mutex_);
  objects_[handle] = {.kind = kind, .ia = ia, .made = site, .ended = {}};
  if (kind == Kind::kEvd) {
    evds_[handle] = EvdRecord{};
    evds_[handle].qlen = qlen;
  }
}

void Ledger::on_freed(Handle handle, const Site& site) {
  drop_queue(handle);
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(handle);
  if (found == objects_.end()) return;
  ObjectRecord& object = found->second;
  object.ended = site;
  if (object.kind != Kind::kCr) freed_[object.ia] |= 1U << static_cast<unsigned>(object.kind);
  if (object.kind == Kind::kEvd) evds_.erase(handle);
  if (object.kind == Kind::kRmr) windows_.erase(handle);
}

void Ledger::set_void_handle(Handle handle) {
  const std::lock_guard lock(mutex_);
  void_handle_ = handle;
}

void Ledger::on_refused_handles(std::span<const Handle> handles, const Site& site) {
  const std::lock_guard lock(mutex_);
  for (const Handle handle : handles) {
    if (handle == nullptr) continue;
    if (handle == void_handle_ || reinterpret_cast<std::uintptr_t>(handle) == kVoidLong) {
      report({Rule::kVoidField, "The handle is the value of an event's field that is void.", {{"used", site}}});
      continue;
    }
    const auto found = objects_.find(handle);
    if (found == objects_.end() || found->second.ended.call == nullptr) continue;
    // Objects that the provider makes itself, as a tentative EP, may have the handle now.
    if (object::HandleTable::instance().pin_any(handle)) continue;
    const ObjectRecord& object = found->second;
    report(
        {Rule::kStaleHandle,
         std::string("The handle is that of the ") + kind_text(object.kind) + ' ' + hex(handle) + ", which has ended.",
         {{"made", object.made}, {"ended", object.ended}, {"used", site}}});
  }
}

void Ledger::on_registered(const object::MemoryRegionParameters& parameters, Handle lmr, const Site& site) {
  const FrameOwner owner = find_owner(parameters.address);
  const std::lock_guard lock(mutex_);
  objects_[lmr] = {.kind = Kind::kLmr, .ia = parameters.ia, .made = site, .ended = {}};
  lkeys_[lmr] = parameters.lmr_context;
  ended_regions_.erase(parameters.lmr_context);
  RegionRecord& region = regions_[parameters.lmr_context];
  region = {.lmr = lmr,
            .made = site,
            .address = parameters.address,
            .length = parameters.length,
            .is_zero_based = parameters.is_zero_based,
            .lkey = parameters.lmr_context,
            .rkey = parameters.rmr_context,
            .privileges = parameters.privileges,
            .used = 0,
            .owner = owner};
  const std::uint32_t times = ++registrations_[{site.place, parameters.address, parameters.length}];
  const auto used = used_registrations_.find({site.place, parameters.ia});
  const bool is_used_loop = used != used_registrations_.end() && used->second >= kLoop - 1;
  if ((times != kLoop && !is_used_loop) || is_repeated(Rule::kRegistrationLoop, site, site)) return;
  report({Rule::kRegistrationLoop,
          (times >= kLoop
               ? "The same memory " + object::range_text(parameters.address, parameters.length) + " was registered "
               : std::string("Memory was registered, used and freed ")) +
              std::to_string(kLoop) + " times.",
          {{"registered", site}}});
}

// Other threads may free the EVD meanwhile, so the lock is none of its record.
Dequeuing& Ledger::dequeuing(Handle evd) {
  static constinit std::array<Dequeuing, 64> some;
  return some[reinterpret_cast<std::uintptr_t>(evd) / 64 % some.size()];
}

}  // namespace softdat::sanitize
