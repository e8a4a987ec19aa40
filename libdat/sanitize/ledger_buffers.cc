// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/sanitize/ledger_buffers.h"

#include <algorithm>
#include <optional>

#include "libdat/object/failure_text.h"
#include "libdat/object/memory_probe.h"
#include "libdat/sanitize/checksum.h"
#include "libdat/sanitize/ledger_guards.h"
#include "libdat/sanitize/marks.h"
#include "libdat/sanitize/settings.h"

namespace softdat::sanitize {
namespace {

using object::DtoCompletion;
using object::DtoStatus;

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

bool uses(const Operation& operation, std::uint32_t lkey) {
  return std::any_of(operation.ranges.begin(), operation.ranges.end(),
                     [&](const Range& range) { return range.lkey == lkey; });
}

}  // namespace

void LedgerBuffers::check_mapped_locked(QueueRecord& queue, const std::uint32_t* lkey, const Site& site) {
  base::require_lock(locks::kLedger);
  if (queues_.is_over_locked(queue)) return;
  for (auto* const operations : {&queue.receives, &queue.requests}) {
    for (const auto& operation : *operations) {
      // Guarded pages look unmapped.
      if (lkey == nullptr || uses(*operation, *lkey)) LedgerGuards::unguard_locked(*operation);
      const auto is_gone = [&](const Range& range) {
        return (lkey == nullptr || range.lkey == *lkey) && range.length != 0 &&
               !object::is_readable(range.address, range.length);
      };
      const auto gone = std::find_if(operation->ranges.begin(), operation->ranges.end(), is_gone);
      if (gone == operation->ranges.end() || queues_.is_settled_locked(*operation)) continue;
      if (is_repeated(Rule::kUnmappedBuffer, operation->posted, site)) continue;
      report({Rule::kUnmappedBuffer,
              "The buffer " + object::range_text(gone->address, gone->length) + " of the outstanding " +
                  name_of(operation->kind) + " has been unmapped.",
              {{"posted", operation->posted}, {"seen", site}}});
    }
  }
}

void LedgerBuffers::check_freed_locked(const RegionRecord& region, const Site& site) {
  base::require_lock(locks::kLedger);
  for (const auto& [handle, queue] : state_.queues) {
    for (const auto* const operations : {&queue->receives, &queue->requests}) {
      for (const auto& operation : *operations) {
        const auto is_freed = [&](const Range& range) { return range.lkey == region.lkey && range.length != 0; };
        const auto used = std::find_if(operation->ranges.begin(), operation->ranges.end(), is_freed);
        if (used == operation->ranges.end()) continue;
        if (queues_.is_settled_locked(*operation) || queues_.is_over_locked(*queue)) continue;
        if (is_repeated(Rule::kFreedRegion, operation->posted, site)) continue;
        report_use_locked(Rule::kFreedRegion, *operation,
                          "The LMR " + hex(region.lmr) + " of the buffer " +
                              object::range_text(used->address, used->length) + " was freed while a " +
                              name_of(operation->kind) + " uses it.",
                          {"freed", site});
      }
    }
  }
}

// Judges the buffers on the calling thread's own stack alone: has_returned() knows no other.
void LedgerBuffers::check_stacks_locked(const Site& site) {
  base::require_lock(locks::kLedger);
  state_.stacks_checked = state_.number;
  for (Operation* const operation : state_.stacked) {
    if (!has_returned(operation->owner)) continue;
    operation->owner = {};  // told
    report_memory(Rule::kStackBuffer, *operation, "was on the stack of a function that has returned", "seen", site);
  }
}

void LedgerBuffers::check_completed(const Operation& operation, const DtoCompletion& completion, const Site& site) {
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
  // After a failure the bytes are not judged.
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

// A breach that follows one answer without an event is told as such: the program took it for the completion. After
// several it has been polling.
void LedgerBuffers::report_use_locked(Rule rule, const Operation& operation, const std::string& what,
                                      const Step& last) {
  base::require_lock(locks::kLedger);
  Finding finding{rule, what, {{"posted", operation.posted}}};
  const auto evd = state_.evds.find(operation.evd);
  if (evd != state_.evds.end() && evd->second.empties == 1 && evd->second.empty_number > operation.number) {
    finding.rule = Rule::kTimeoutTaken;
    finding.what = what + " No event was found for it: " + text_of(rule).rule;
    finding.steps.push_back({"no event found", evd->second.empty});
  }
  finding.steps.push_back(last);
  report(finding);
}

}  // namespace softdat::sanitize
