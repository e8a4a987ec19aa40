// SPDX-License-Identifier: BSD-2-Clause
#include "memory/arena.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <new>
#include <thread>
#include <utility>

#include "base/assert.h"
#include "base/log.h"
#include "base/own_threads.h"
#include "base/per_process.h"
#include "memory/fork_handlers.h"
#include "memory/lock_places.h"
#include "memory/moved_memory.h"
#include "memory/other_threads.h"
#include "memory/page_return.h"
#include "memory/shared_file.h"
#include "memory/thread_memory.h"

namespace softdat::memory {
namespace {

// After so much has been moved it is time to see what of it still stands.
constexpr std::uint64_t kReclaimAfter = std::uint64_t{64} << 20;
// Far more than a processor takes to bring out what it has stored.
constexpr auto kStoresSettled = std::chrono::microseconds(50);

FileRange range_of(const Mapping& view) {
  return {view.file_offset, view.file_offset + (view.end - view.begin)};
}

// Gives pages of the file back to the system.
void punch(int file, const FileRange& range) {
  base::check(range.begin < range.end && range.end <= kArenaBytes && range.begin % kPageBytes == 0 &&
                  range.end % kPageBytes == 0,
              "whole pages of the file are given back", range.begin, range.end);
  constexpr int kMode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
  static_cast<void>(
      ::fallocate(file, kMode, static_cast<off_t>(range.begin), static_cast<off_t>(range.end - range.begin)));
}

}  // namespace

Arena::Arena(base::UniqueFd file, PageMover mover)
    : file_(std::move(file)), identity_(identify_file(file_.get())), mover_(std::move(mover)) {
  follow_forks(*this);
}

Arena::~Arena() {
  ignore_forks(*this);
}

std::unique_ptr<Arena> Arena::create(PageMover mover) {
  base::UniqueFd file = create_shared_file(kMovedMemory, kArenaBytes);
  if (!file) return nullptr;
  std::unique_ptr<Arena> arena(new Arena(std::move(file), std::move(mover)));
  // Where userfaultfd is missing or forbidden there is no arena, and all memory is reached by messages.
  return arena->mover_.is_able() && arena->map_buffer_.data() != nullptr ? std::move(arena) : nullptr;
}

// A child needs one of its own: its parent's holds its parent's memory.
Arena* Arena::of_process() {
  static constinit base::PerProcess<Arena*, locks::kArenaCreation> arenas;
  const auto arena = arenas.lock(fork_generation());
  if (*arena == nullptr) *arena = create().release();
  return *arena;
}

std::optional<std::uint64_t> Arena::share(std::uint64_t address, std::uint64_t length, MoveWhen when,
                                          Refusal* refusal) {
  if (refusal != nullptr) *refusal = Refusal::kNotMovable;
  // Fast path: the main heap is refused without the lock, and without asking the kernel for its mappings.
  if (length == 0 || address + length + kPageBytes < address || is_surely_main_heap(address)) return std::nullopt;
  const AddressRange pages{.begin = address / kPageBytes * kPageBytes,
                           .end = (address + length + kPageBytes - 1) / kPageBytes * kPageBytes};
  // A thread that has just begun or is ending makes one look inconclusive. Wait for it without the lock, and look
  // again.
  Attempt attempt = try_share(pages, when);
  if (attempt.unsettled != 0) {
    const base::Time deadline = base::Clock::now() + kThreadPatience;
    while (attempt.unsettled != 0 && await_settled(attempt.unsettled, deadline) && base::Clock::now() < deadline) {
      attempt = try_share(pages, when);
    }
  }
  if (!attempt.offset) {
    if (refusal != nullptr) *refusal = attempt.refusal;
    return std::nullopt;
  }
  const std::uint64_t offset = *attempt.offset + (address - pages.begin);
  base::check(offset + length <= kArenaBytes, "shared memory lies within the arena's file", offset, length);
  return offset;
}

Arena::Attempt Arena::try_share(const AddressRange& pages, MoveWhen when) {
  const std::lock_guard lock(mutex_);
  const auto known = slabs_.find(pages);
  if (known && lies_in_file_locked(pages, *known)) return {.offset = known};
  // Before the slab: heaps are never moved, so they must not use one up.
  const auto offset = is_surely_heap(pages.begin) ? std::nullopt : slabs_.offset_of(pages);
  if (!offset) return {};
  const std::vector<Mapping> map = read_address_map(pages.begin, pages.end, identity_);
  if (!can_share_locked(pages, map)) return {};
  const auto parts = parts_to_move_locked(pages, map);
  if (!parts) return {};
  // Before the move: a move that fails half way leaves pages in the file, which reclaim_locked() must find.
  for (const auto& [range, place] : *parts) moved_.add({place, place + (range.end - range.begin)});
  const CheckedMover::Outcome outcome = mover_.move(*parts, file_.get(), identity_, when);
  moved_.note_moved(outcome.moved);
  // A failed move may have lacked memory that is no longer used.
  if (moved_.moved_since_last_look() >= (outcome.refusal ? 1 : kReclaimAfter)) reclaim_locked();
  if (outcome.refusal) {
    return {.offset = std::nullopt, .refusal = *outcome.refusal, .unsettled = outcome.unsettled};
  }
  return {.offset = offset};
}

// Fast path of memory that was registered before. Nothing has to be moved, so nobody has to be asked what else lies
// there.
bool Arena::lies_in_file_locked(const AddressRange& range, std::uint64_t offset) {
  base::require_lock(locks::kArena);
  const FileRange place{offset, offset + (range.end - range.begin)};
  if (!moved_.may_contain(place) || lent_.is_retired(place)) return false;
  return is_covered(range.begin, range.end, identity_,
                    [this](const Mapping& view) { return slabs_.is_in_place(view); });
}

// True if the range is mapped without a gap, and each part is plain memory or a view at its own place in the file.
// Pages that were taken from a stopped peer are refused until that peer's hold is over (LentPages).
bool Arena::can_share_locked(const AddressRange& range, const std::vector<Mapping>& map) {
  base::require_lock(locks::kArena);
  const auto offset = slabs_.offset_of(range);
  if (!offset || lent_.is_retired({*offset, *offset + (range.end - range.begin)})) return false;
  if (is_in_use_by_threads(range.begin, range.end)) return false;
  std::uint64_t known = range.begin;
  for (const Mapping& mapping : map) {
    if (mapping.end <= range.begin || mapping.begin >= range.end) continue;
    if (mapping.begin > known || mapping.kind == MappingKind::kForeign) return false;
    if (mapping.kind == MappingKind::kArena && !slabs_.is_in_place(mapping)) return false;
    known = mapping.end;
  }
  return known >= range.end;
}

// Returns the parts that do not lie in the file yet; nothing if the file has no place for one of them.
std::optional<std::vector<CheckedMover::Part>> Arena::parts_to_move_locked(const AddressRange& range,
                                                                           const std::vector<Mapping>& map) {
  base::require_lock(locks::kArena);
  std::vector<CheckedMover::Part> parts;
  for (const Mapping& mapping : map) {
    const AddressRange part{std::max(mapping.begin, range.begin), std::min(mapping.end, range.end)};
    if (mapping.kind != MappingKind::kPlain || part.begin >= part.end) continue;
    const auto offset = slabs_.offset_of(part);
    if (!offset) return std::nullopt;
    parts.push_back({part, *offset});
  }
  return parts;
}

std::byte* Arena::second_view(std::uint64_t offset, std::uint64_t length) {
  if (std::byte* const place = second_views_.find(offset, length)) [[likely]]
    return place;
  const std::lock_guard lock(mutex_);
  return second_views_.map(file_.get(), offset) ? second_views_.find(offset, length) : nullptr;
}

// The views of the consumer's memory, wherever it has moved them.
template <typename Act>
bool Arena::for_each_view_locked(const Act& act) const {
  base::require_lock(locks::kArena);
  return walk_views(identity_, map_buffer_, [&](const Mapping& view) {
    if (!second_views_.contains(view.begin)) act(view);
  });
}

// Not at all where a view may be missing: its memory would be lost.
void Arena::reclaim_locked() {
  base::require_lock(locks::kArena);
  std::vector<FileRange> views;
  if (!for_each_view_locked([&views](const Mapping& view) { views.push_back(range_of(view)); })) return;
  // Pages of the file that no view shows any more were unmapped by the consumer.
  for (const FileRange& unused : moved_.keep_only(std::move(views))) punch(file_.get(), unused);
}

bool Arena::is_same_file(int file) const {
  const FileIdentity other = identify_file(file);
  return other.inode == identity_.inode && other.device == identity_.device;
}

// A peer that was seen with a hold has stored before it looks whether the pages were cut off, or it sees that they
// were. Between a processor's storing and its looking only what it has not brought out yet can come; hence the pause.
//
// The lock is held throughout, so that another thread finds the pages of a hold either taken away or not retired.
std::uint64_t Arena::retire(std::span<const Retirement> retirements) {
  const std::lock_guard lock(mutex_);
  const std::vector<FileRange> pages = lent_.retire(retirements);
  if (pages.empty()) return 0;
  std::this_thread::sleep_for(kStoresSettled);
  try {
    return_locked(pages);
  } catch (const std::bad_alloc&) {
    lent_.undo_retire();
    throw;
  }
  lent_.keep_retired();
  std::uint64_t bytes = 0;
  for (const FileRange& range : pages) bytes += range.end - range.begin;
  return bytes;
}

// Wherever the consumer has the views, which one walk over the map tells. The pages of the file are freed only when
// private copies of all of them have been made. Threads that sleep there on futexes are known by the file's pages so
// far. Throws std::bad_alloc before any page has been returned, or not at all.
void Arena::return_locked(const std::vector<FileRange>& pages) {
  base::require_lock(locks::kArena);
  std::vector<SharedPages> parts;
  const bool are_all_seen = for_each_view_locked([&](const Mapping& view) {
    for (const FileRange& range : pages) {
      const FileRange part = common_part(range, range_of(view));
      if (part.begin >= part.end) continue;
      const std::uint64_t begin = view.begin + (part.begin - view.file_offset);
      parts.push_back({begin, begin + (part.end - part.begin), view.protection, part.begin});
    }
  });
  const auto is_returned = [&](const SharedPages& part) { return return_pages(part, file_.get()); };
  if (std::ranges::count_if(parts, is_returned) == std::ssize(parts) && are_all_seen) {
    for (const FileRange& range : pages) punch(file_.get(), range);
  } else {
    base::log(
        base::LogLevel::kError,
        "out of memory: cannot take registered memory away from a peer that has stopped in the middle of a write; "
        "its later writes will change this process's memory. End that peer, or free memory");
  }
  if (base::is_consumer_alone()) return;
  for (const SharedPages& part : parts) wake_sleepers(part.begin, part.end, file_.get(), part.offset);
}

// With some room for what the consumer takes apart meanwhile.
void Arena::before_fork() {
  mutex_.lock();
  lent_.lock();
  if (!file_) return;  // this process is a child itself, and its views are private already
  std::size_t views = 0;
  if (!for_each_view_locked([&views](const Mapping&) { ++views; }) || views == 0) return;
  fork_copies_.make_room(2 * views);
  static_cast<void>(for_each_view_locked([this](const Mapping& view) { fork_copies_.add(range_of(view)); }));
  fork_copies_.read(file_.get());
}

void Arena::after_fork_in_parent() {
  base::require_lock(locks::kArena);
  fork_copies_.drop();
  lent_.unlock();
  mutex_.unlock();
}

// Here nobody changes the map but this thread, so it is read anew: what was planned for may have been unmapped before
// the fork, and something else be there. Nothing here may store into memory that is being replaced. Views come in the
// order of their addresses; each is looked at once, because where memory is short it may stay as it was.
void Arena::after_fork_in_child() {
  base::require_lock(locks::kArena);
  mover_ = CheckedMover();        // first, because its descriptor may be the one that the walk needs
  std::array<Mapping, 64> views;  // on the stack, because malloc's memory may be among what is replaced
  std::uint64_t done = 0;         // up to this address
  bool are_all_seen = true;
  for (std::size_t count = views.size(); file_ && count == views.size();) {
    count = 0;
    are_all_seen = for_each_view_locked([&](const Mapping& view) {
      if (view.begin >= done && count < views.size()) views[count++] = view;
    });
    for (std::size_t i = 0; i < count; ++i) {
      fork_copies_.replace(views[i], file_.get());
      done = views[i].end;
    }
  }
  if (!are_all_seen) {
    base::log(base::LogLevel::kError,
              "a child of fork() cannot read its memory map; its registered memory is still its parent's");
  }
  fork_copies_.forget();
  moved_.clear();
  // The file belongs to the parent's memory. Arena::of_process makes a new one for the child.
  file_.reset();
  lent_.unlock();
  mutex_.unlock();
}

}  // namespace softdat::memory
