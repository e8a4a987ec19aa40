// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/sanitize/ledger_regions.h"

#include <mutex>
#include <string>
#include <utility>

#include "libdat/object/failure_text.h"
#include "libdat/sanitize/finding.h"
#include "libdat/sanitize/settings.h"

namespace softdat::sanitize {
namespace {

// A program that registers the same memory so often at one place does it in a loop.
constexpr std::uint32_t kLoop = 16;

// An LMR that served no more operations was hardly worth its registration.
constexpr std::uint32_t kFewOperations = 4;

// Rights that a program can do without. DAT_MEM_PRIV_LOCAL_READ_FLAG goes without saying.
constexpr std::pair<std::uint32_t, const char*> kRights[] = {
    {object::kLocalWritePrivilege, "DAT_MEM_PRIV_LOCAL_WRITE_FLAG"},
    {object::kRemoteReadPrivilege, "DAT_MEM_PRIV_REMOTE_READ_FLAG"},
    {object::kRemoteWritePrivilege, "DAT_MEM_PRIV_REMOTE_WRITE_FLAG"},
    {object::kRemoteAtomicPrivilege, "DAT_IB_MEM_PRIV_REMOTE_ATOMIC"}};

// Rights for peers include that of the adapter to store.
void check_rights(const RegionRecord& region, const Site& site) {
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

}  // namespace

void LedgerRegions::on_registered(const object::MemoryRegionParameters& parameters, Handle lmr, const Site& site) {
  const FrameOwner owner = find_owner(parameters.address);
  const std::lock_guard lock(state_.mutex);
  state_.objects[lmr] = {.kind = Kind::kLmr, .ia = parameters.ia, .made = site, .ended = {}};
  state_.lkeys[lmr] = parameters.lmr_context;
  // The key was given out again.
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
  // A loop may register other memory each time: LMRs of one place that each served few operations count as well.
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

RegionRecord* LedgerRegions::find_locked(Handle lmr) {
  base::require_lock(locks::kLedger);
  const auto lkey = state_.lkeys.find(lmr);
  if (lkey == state_.lkeys.end()) return nullptr;
  const auto region = state_.regions.find(lkey->second);
  return region == state_.regions.end() ? nullptr : &region->second;
}

// The call may still be refused, so the region stays known.
void LedgerRegions::before_deregistration(Handle lmr, const Site& site) {
  const std::lock_guard lock(state_.mutex);
  RegionRecord* const region = find_locked(lmr);
  if (region == nullptr) return;
  for (const auto& [handle, queue] : state_.queues) buffers_.check_mapped_locked(*queue, &region->lkey, site);
  buffers_.check_freed_locked(*region, site);
  check_rights(*region, site);
  guards_.end_unordered_locked(region->address, region->length);
  LedgerGuards::before_registration(region->address, region->length);
}

void LedgerRegions::on_deregistered(Handle lmr, const Site& site) {
  const std::lock_guard lock(state_.mutex);
  const RegionRecord* const region = find_locked(lmr);
  if (region == nullptr) return;
  const auto object = state_.objects.find(lmr);
  const std::uint32_t operations = region->operations;
  if (object != state_.objects.end() && operations > 0 && operations <= kFewOperations) {
    ++state_.used_registrations[{region->made.place, object->second.ia}];
  }
  state_.ended_regions[region->lkey] = {region->made, site};
  state_.regions.erase(region->lkey);
  state_.lkeys.erase(lmr);
}

void LedgerRegions::on_window(Handle rmr, std::uint32_t rmr_context, const object::Segment& memory,
                              bool is_zero_based) {
  const std::lock_guard lock(state_.mutex);
  if (memory.length == 0) {
    state_.windows.erase(rmr);
  } else {
    state_.windows[rmr] = {.rmr_context = rmr_context, .memory = memory, .is_zero_based = is_zero_based};
  }
}

std::optional<object::Segment> LedgerRegions::find_sink(std::uint64_t address, std::uint32_t length,
                                                        std::uint32_t rmr_context) {
  const std::lock_guard lock(state_.mutex);
  object::Segment sink{};
  sink.address = address;
  sink.length = length;
  sink.lkey = rmr_context;
  // An LMR's own rmr_context is a sink as well as a window's.
  if (state_.regions.contains(rmr_context)) return sink;
  for (const auto& [rmr, window] : state_.windows) {
    if (window.rmr_context != rmr_context) continue;
    const auto region = state_.regions.find(window.memory.lkey);
    if (region == state_.regions.end()) return std::nullopt;
    if (window.is_zero_based) sink.address += window.memory.address;
    sink.lkey = window.memory.lkey;
    return sink;
  }
  return std::nullopt;
}

}  // namespace softdat::sanitize
