// SPDX-License-Identifier: BSD-2-Clause
#include "memory/checked_mover.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "base/assert.h"
#include "base/log.h"
#include "base/own_threads.h"
#include "memory/file_range.h"
#include "memory/lock_places.h"
#include "memory/other_threads.h"
#include "memory/page_return.h"

namespace softdat::memory {
namespace {

using Part = CheckedMover::Part;

// malloc gives blocks from this size on mappings of their own, which realloc may ask the kernel to grow.
constexpr std::uint64_t kGrowable = std::uint64_t{128} << 10;

// Whether threads let the parts be moved, as far as can be told now.
bool do_threads_allow(std::span<const Part> parts, int& unsettled) {
  const OtherThreads threads;
  unsettled = threads.unsettled();
  if (!threads.is_complete()) return false;
  return std::ranges::none_of(parts, [&](const Part& part) {
    const auto [begin, end] = part.range;
    return threads.sleep_in(begin, end) || threads.stand_in(begin, end, end_of_mapping(end - 1));
  });
}

// Whether the view shows a part where it was moved to.
bool shows(const Mapping& view, const Part& part) {
  return view.kind == MappingKind::kArena && view.protection == (PROT_READ | PROT_WRITE) &&
         view.file_offset - view.begin == part.offset - part.range.begin;
}

// Puts private pages back in the place of all pages of the part that have moved.
void put_back(const Part& part, int file, const FileIdentity& identity) {
  for (const Mapping& view : read_address_map(part.range.begin, part.range.end, identity)) {
    const std::uint64_t begin = std::max(view.begin, part.range.begin);
    const std::uint64_t end = std::min(view.end, part.range.end);
    // The consumer may have unmapped or moved pages since; its new mapping must stay as it is.
    if (begin >= end || !shows(view, part)) continue;
    if (!return_pages({begin, end, view.protection, view.file_offset + (begin - view.begin)}, file)) {
      base::log(
          base::LogLevel::kError,
          "out of memory: cannot undo a registration; threads that sleep there on a semaphore or mutex may sleep on");
    }
  }
}

// A thread that fell asleep before the move sleeps on private pages that are gone, one that did so afterwards on the
// file's; they cannot be told apart. So private pages are put back, and all of them woken, also for what others have
// done meanwhile to wake those whom they could not find.
bool put_back_under_sleepers(std::span<const Part> parts, int file, const FileIdentity& identity) {
  const OtherThreads threads(OtherThreads::Look::kFutexes);
  const auto has_sleepers = [&](const Part& part) { return threads.sleep_in(part.range.begin, part.range.end); };
  if (std::ranges::none_of(parts, has_sleepers)) return false;
  for (const Part& part : parts) put_back(part, file, identity);
  // Sleepers of the first look may lie on either page, and more may have come since.
  for (const auto& [range, offset] : parts) {
    wake_sleepers(threads, range.begin, range.end, file, offset);
    wake_sleepers(range.begin, range.end, file, offset);
  }
  return true;
}

}  // namespace

// A thread may lie down to sleep between the first look at threads and the move; hence the second.
CheckedMover::Outcome CheckedMover::move(std::span<const Part> parts, int file, const FileIdentity& identity,
                                         MoveWhen when) {
  base::require_lock(locks::kArena);
  Outcome outcome;
  if (parts.empty()) return outcome;
  survey_.refresh();
  // Setting `auto` (decision 7): io_uring, asynchronous I/O and pinned pages may be about to store into the old pages.
  if (when == MoveWhen::kHarmless && survey_.has_others_at_work()) {
    outcome.refusal = Refusal::kOthersAtWork;
    return outcome;
  }
  const bool is_alone = base::is_consumer_alone();
  if (!is_alone && (has_unseen_stacks() || !do_threads_allow(parts, outcome.unsettled))) {
    outcome.refusal = Refusal::kThreadMemory;
    return outcome;
  }
  move_parts(parts, file, when, outcome);
  if (!is_alone && put_back_under_sleepers(parts, file, identity)) outcome.refusal = Refusal::kThreadMemory;
  return outcome;
}

// A frame that a signal's delivery stores into a page that stands still would end the process, where the kernel does
// not wait.
bool CheckedMover::has_unseen_stacks() {
  return mover_.is_able() && !mover_.holds_system_calls() && may_use_alternate_stacks();
}

void CheckedMover::move_parts(std::span<const Part> parts, int file, MoveWhen when, Outcome& outcome) {
  for (const Part& part : parts) {
    outcome.refusal = survey_.has_room() ? move_part(part, file, when) : Refusal::kNotMovable;
    // Parts that have moved stay in the file, where they work as before; only the registration goes by messages.
    if (outcome.refusal) return;
    outcome.moved += part.range.end - part.range.begin;
  }
}

std::optional<Refusal> CheckedMover::move_part(const Part& part, int file, MoveWhen when) {
  base::require_lock(locks::kArena);
  const auto [begin, end] = part.range;
  base::check(end % kPageBytes == 0 && part.offset % kPageBytes == 0, "whole pages move", end, part.offset);
  survey_.note_new(3);  // the part, its end, and what is left of the memory around it
  switch (mover_.move(begin, end, file, part.offset, when)) {
    case MoveResult::kMoved:
      break;
    case MoveResult::kDisturbing:
      return Refusal::kOtherThreads;
    case MoveResult::kFailed:
      return Refusal::kNotMovable;
  }
  // Were the view in one piece, mremap() could grow it over its neighbours' bytes in the file. In two it is told to
  // move the memory by copying.
  if (end - begin >= kGrowable) ::syscall(SYS_madvise, end - kPageBytes, kPageBytes, MADV_RANDOM);
  return std::nullopt;
}

}  // namespace softdat::memory
