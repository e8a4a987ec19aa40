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

Ledger::Ledger() {
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
  instance().state_.mutex.lock();
  if (mode() == Mode::kFull) PageGuard::instance().prepare_for_fork();
}

void Ledger::continue_in_parent() {
  if (mode() == Mode::kFull) PageGuard::instance().continue_after_fork(false);
  instance().state_.mutex.unlock();
}

void Ledger::start_afresh_in_child() {
  if (mode() == Mode::kFull) PageGuard::instance().continue_after_fork(true);
  LedgerState& state = instance().state_;
  state.start_afresh_locked();
  state.mutex.unlock();
}

void Ledger::on_made(Handle handle, Kind kind, Handle ia, const Site& site) {
  std::int32_t qlen = 0;
  if (kind == Kind::kEvd) {
    if (const auto evd = object::pin_handle<object::EventDispatcher>(handle)) qlen = evd->qlen();
  }
  queues_.drop(handle);  // of an object that had the handle before
  const std::lock_guard lock(state_.mutex);
  state_.objects[handle] = {.kind = kind, .ia = ia, .made = site, .ended = {}};
  if (kind == Kind::kEvd) {
    state_.evds[handle] = EvdRecord{};
    state_.evds[handle].qlen = qlen;
  }
}

void Ledger::on_freed(Handle handle, const Site& site) {
  queues_.drop(handle);
  const std::lock_guard lock(state_.mutex);
  const auto found = state_.objects.find(handle);
  if (found == state_.objects.end()) return;
  ObjectRecord& object = found->second;
  object.ended = site;
  if (object.kind != Kind::kCr) state_.freed[object.ia] |= 1U << static_cast<unsigned>(object.kind);
  if (object.kind == Kind::kEvd) state_.evds.erase(handle);
  if (object.kind == Kind::kRmr) state_.windows.erase(handle);
}

void Ledger::set_void_handle(Handle handle) {
  const std::lock_guard lock(state_.mutex);
  state_.void_handle = handle;
}

void Ledger::on_refused_handles(std::span<const Handle> handles, const Site& site) {
  const std::lock_guard lock(state_.mutex);
  for (const Handle handle : handles) {
    if (handle == nullptr) continue;
    if (handle == state_.void_handle || reinterpret_cast<std::uintptr_t>(handle) == kVoidLong) {
      report({Rule::kVoidField, "The handle is the value of an event's field that is void.", {{"used", site}}});
      continue;
    }
    const auto found = state_.objects.find(handle);
    if (found == state_.objects.end() || found->second.ended.call == nullptr) continue;
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
  const std::lock_guard lock(state_.mutex);
  state_.objects[lmr] = {.kind = Kind::kLmr, .ia = parameters.ia, .made = site, .ended = {}};
  state_.lkeys[lmr] = parameters.lmr_context;
  state_.ended_regions.erase(parameters.lmr_context);
  RegionRecord& region = state_.regions[parameters.lmr_context];
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
  const std::uint32_t times = ++state_.registrations[{site.place, parameters.address, parameters.length}];
  const auto used = state_.used_registrations.find({site.place, parameters.ia});
  const bool is_used_loop = used != state_.used_registrations.end() && used->second >= kLoop - 1;
  if ((times != kLoop && !is_used_loop) || is_repeated(Rule::kRegistrationLoop, site, site)) return;
  report({Rule::kRegistrationLoop,
          (times >= kLoop
               ? "The same memory " + object::range_text(parameters.address, parameters.length) + " was registered "
               : std::string("Memory was registered, used and freed ")) +
              std::to_string(kLoop) + " times.",
          {{"registered", site}}});
}

}  // namespace softdat::sanitize
