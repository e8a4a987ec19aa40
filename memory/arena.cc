// SPDX-License-Identifier: BSD-2-Clause
#include "memory/arena.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <thread>
#include <utility>

#include "base/assert.h"
#include "base/guarded.h"
#include "base/log.h"
#include "base/moved_memory.h"
#include "base/own_threads.h"
#include "memory/fork_handlers.h"
#include "memory/lock_places.h"
#include "memory/other_threads.h"
#include "memory/page_return.h"
#include "memory/shared_file.h"
#include "memory/thread_memory.h"

namespace softdat::memory {
namespace {

constexpr std::uint64_t kPage = 4096;
// After so much has been moved it is time to see what of it still stands.
constexpr std::uint64_t kReclaimAfter = std::uint64_t{64} << 20;
// The kernel allows a process some 65,000 mappings; what we add must leave the consumer enough.
constexpr std::size_t kMostMappings = 30'000;
// malloc gives blocks from this size on mappings of their own, which realloc may ask the kernel to grow.
constexpr std::uint64_t kGrowable = std::uint64_t{128} << 10;
// Far more than a processor takes to bring out what it has stored.
constexpr auto kStoresSettled = std::chrono::microseconds(50);

// Memory that is not malloc's; null when there is none.
template <typename T>
T* map_private(std::size_t count) {
  void* got = ::mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return got == MAP_FAILED ? nullptr : static_cast<T*>(got);
}

}  // namespace

Arena::Arena(base::UniqueFd file, PageMover mover)
    : file_(std::move(file)), identity_(identify_file(file_.get())), mover_(std::move(mover)) {
  follow_forks(*this);
}

Arena::~Arena() {
  ignore_forks(*this);
  for (const auto& view : second_views_) delete view.load(std::memory_order_relaxed);
}

std::unique_ptr<Arena> Arena::create(PageMover mover) {
  base::UniqueFd file = create_shared_file(base::kMovedMemory, kArenaBytes);
  if (!file) return nullptr;
  std::unique_ptr<Arena> arena(new Arena(std::move(file), std::move(mover)));
  return arena->mover_.is_able() ? std::move(arena) : nullptr;
}

// A child needs one of its own: its parent's holds its parent's memory.
Arena* Arena::of_process() {
  struct Instance {
    Arena* arena = nullptr;
    unsigned generation = 0;
  };
  static auto* const guarded = new base::Guarded<Instance, locks::kArenaCreation>();
  const auto instance = guarded->lock();
  if (instance->arena == nullptr || instance->generation != fork_generation()) {
    *instance = {create().release(), fork_generation()};
  }
  return instance->arena;
}

std::optional<std::uint64_t> Arena::share(std::uint64_t address, std::uint64_t length, MoveWhen when,
                                          Refusal* refusal) {
  if (refusal != nullptr) *refusal = Refusal::kNotMovable;
  if (length == 0 || address + length + kPage < address || is_surely_heap(address)) return std::nullopt;
  const Range pages{.begin = address / kPage * kPage, .end = (address + length + kPage - 1) / kPage * kPage};
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

Arena::Attempt Arena::try_share(const Range& pages, MoveWhen when) {
  const std::lock_guard lock(mutex_);
  const auto offset = offset_of_locked(pages);
  if (!offset) return {};
  const std::vector<Mapping> map = read_address_map(pages.begin, pages.end, identity_);
  if (!can_share_locked(pages, map)) return {};
  const auto parts = parts_to_move_locked(pages, map);
  if (!parts) return {};
  int unsettled = 0;
  const auto refused = move_locked(*parts, when, unsettled);
  // What failed may have failed for want of memory that is no longer used.
  if (moved_since_reclaim_ >= (refused ? 1 : kReclaimAfter)) reclaim_locked();
  if (refused) return {.offset = std::nullopt, .refusal = *refused, .unsettled = unsettled};
  return {.offset = offset};
}

// By window, which is assigned when first needed. A range that leaves its window has no place.
std::optional<std::uint64_t> Arena::offset_of_locked(const Range& range) {
  base::require_lock(locks::kArena);
  base::check(range.begin < range.end && range.begin % kPage == 0, "a place is asked for whole pages", range.begin,
              range.end);
  const std::uint64_t base = range.begin / kWindowBytes * kWindowBytes;
  if (range.end - base > kWindowBytes) return std::nullopt;
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    if (windows_[i] == 0) windows_[i] = base + 1;
    if (windows_[i] == base + 1) return i * kWindowBytes + (range.begin - base);
  }
  return std::nullopt;
}

// A view may also be one that the consumer has moved about with mremap(), or protected.
bool Arena::is_in_place_locked(const Mapping& view) {
  base::require_lock(locks::kArena);
  return view.protection == (PROT_READ | PROT_WRITE) && offset_of_locked({view.begin, view.end}) == view.file_offset;
}

bool Arena::can_share_locked(const Range& range, const std::vector<Mapping>& map) {
  base::require_lock(locks::kArena);
  const auto offset = offset_of_locked(range);
  if (!offset || lent_.is_retired({*offset, *offset + (range.end - range.begin)})) return false;
  if (is_in_use_by_threads(range.begin, range.end)) return false;
  std::uint64_t known = range.begin;
  for (const Mapping& mapping : map) {
    if (mapping.end <= range.begin || mapping.begin >= range.end) continue;
    if (mapping.begin > known || mapping.kind == MappingKind::kForeign) return false;
    if (mapping.kind == MappingKind::kArena && !is_in_place_locked(mapping)) return false;
    known = mapping.end;
  }
  return known >= range.end;
}

// Nothing: there is no place for one.
std::optional<std::vector<Arena::Part>> Arena::parts_to_move_locked(const Range& range,
                                                                    const std::vector<Mapping>& map) {
  base::require_lock(locks::kArena);
  std::vector<Part> parts;
  for (const Mapping& mapping : map) {
    const Range part{std::max(mapping.begin, range.begin), std::min(mapping.end, range.end)};
    if (mapping.kind != MappingKind::kPlain || part.begin >= part.end) continue;
    const auto offset = offset_of_locked(part);
    if (!offset) return std::nullopt;
    parts.push_back({part, *offset});
  }
  return parts;
}

// Nothing: it is there. A thread may lie down to sleep between the first look at threads and the move; hence the
// second.
std::optional<Refusal> Arena::move_locked(const std::vector<Part>& parts, MoveWhen when, int& unsettled) {
  base::require_lock(locks::kArena);
  if (parts.empty()) return std::nullopt;
  look_around_locked();
  if (when == MoveWhen::kHarmless && seen_.has_others_at_work) return Refusal::kOthersAtWork;
  const bool is_alone = base::is_consumer_alone();
  if (!is_alone && (has_unseen_stacks() || !may_move(parts, unsettled))) return Refusal::kThreadMemory;
  const auto refused = move_parts_locked(parts, when);
  if (!is_alone && put_back_under_sleepers_locked(parts)) return Refusal::kThreadMemory;
  return refused;
}

std::optional<Refusal> Arena::move_parts_locked(const std::vector<Part>& parts, MoveWhen when) {
  base::require_lock(locks::kArena);
  for (const Part& part : parts) {
    if (seen_.count + made_since_ > kMostMappings) return Refusal::kNotMovable;
    if (const auto refused = move_part_locked(part.range, part.offset, when)) return refused;
  }
  return std::nullopt;
}

// A frame that a signal's delivery stores into a page that stands still would end the process, where the kernel does
// not wait.
bool Arena::has_unseen_stacks() {
  return mover_.is_able() && !mover_.holds_system_calls() && may_use_alternate_stacks();
}

// Whether threads let the parts be moved, as far as can be told now.
bool Arena::may_move(const std::vector<Part>& parts, int& unsettled) {
  const OtherThreads threads;
  unsettled = threads.unsettled();
  if (!threads.is_complete()) return false;
  return std::ranges::none_of(parts, [&](const Part& part) {
    const auto [begin, end] = part.range;
    return threads.sleep_in(begin, end) || threads.stand_in(begin, end, end_of_mapping(end - 1));
  });
}

// Who fell asleep before the move sleeps on private pages that are gone, who did so afterwards on the file's; they
// cannot be told apart. So private pages are put back, and all of them woken, also for what others have done meanwhile
// to wake those whom they could not find.
bool Arena::put_back_under_sleepers_locked(const std::vector<Part>& parts) {
  base::require_lock(locks::kArena);
  const OtherThreads threads(OtherThreads::Look::kFutexes);
  const auto has_sleepers = [&](const Part& part) { return threads.sleep_in(part.range.begin, part.range.end); };
  if (std::ranges::none_of(parts, has_sleepers)) return false;
  for (const Part& part : parts) put_back_locked(part);
  const OtherThreads now(OtherThreads::Look::kFutexes);
  for (const auto& [range, offset] : parts) {
    wake_sleepers(threads, range.begin, range.end, file_.get(), offset);
    wake_sleepers(now, range.begin, range.end, file_.get(), offset);
  }
  return true;
}

// As much of it as has been moved.
void Arena::put_back_locked(const Part& part) {
  base::require_lock(locks::kArena);
  for (const Mapping& view : read_address_map(part.range.begin, part.range.end, identity_)) {
    const std::uint64_t begin = std::max(view.begin, part.range.begin);
    const std::uint64_t end = std::min(view.end, part.range.end);
    if (begin >= end || view.kind != MappingKind::kArena || !is_in_place_locked(view)) continue;
    if (!return_pages({begin, end, view.protection, view.file_offset + (begin - view.begin)}, file_.get())) {
      base::log(base::LogLevel::kError, "no memory to undo a registration under sleeping threads; they may sleep on");
    }
  }
}

// Only when something has to be moved. In a process of many mappings a look takes milliseconds; so it gets a fifth of
// the time at most.
void Arena::look_around_locked() {
  base::require_lock(locks::kArena);
  const base::Time begin = base::Clock::now();
  if (begin < look_again_) return;
  seen_ = look_through_map();
  made_since_ = 0;
  const base::Time end = base::Clock::now();
  look_again_ = end + 4 * (end - begin);
}

std::optional<Refusal> Arena::move_part_locked(const Range& part, std::uint64_t offset, MoveWhen when) {
  base::require_lock(locks::kArena);
  base::check(part.end % kPage == 0 && offset % kPage == 0, "whole pages move", part.end, offset);
  // First, because it takes memory; what is known of as moved and was not does no harm.
  add_moved_locked({offset, offset + (part.end - part.begin)});
  made_since_ += 3;  // the part, its end, and what is left of the memory around it
  switch (mover_.move(part.begin, part.end, file_.get(), offset, when)) {
    case MoveResult::kMoved:
      moved_since_reclaim_ += part.end - part.begin;
      break;
    case MoveResult::kDisturbing:
      return Refusal::kOtherThreads;
    case MoveResult::kFailed:
      return Refusal::kNotMovable;
  }
  // Were the view in one piece, mremap() could grow it over its neighbours' bytes in the file. In two it is told to
  // move the memory by copying.
  if (part.end - part.begin >= kGrowable) ::syscall(SYS_madvise, part.end - kPage, kPage, MADV_RANDOM);
  return std::nullopt;
}

void Arena::add_moved_locked(const Range& range) {
  base::require_lock(locks::kArena);
  auto at = moved_.try_emplace(range.begin, range.end).first;
  at->second = std::max(at->second, range.end);
  if (at != moved_.begin() && std::prev(at)->second >= at->first) {
    const auto before = std::prev(at);
    before->second = std::max(before->second, at->second);
    moved_.erase(at);
    at = before;
  }
  for (auto next = std::next(at); next != moved_.end() && next->first <= at->second; next = moved_.erase(next)) {
    at->second = std::max(at->second, next->second);
  }
  SOFTDAT_DEBUG_CHECK(at->first <= range.begin && range.end <= at->second, "what has moved is in one entry", at->first,
                      at->second);
}

// A view overlaps the next one by as much as one use may cover.
std::byte* Arena::second_view(std::uint64_t offset, std::uint64_t length) {
  const std::size_t window = offset / kWindowBytes;
  SOFTDAT_DEBUG_CHECK(window < second_views_.size() && length <= kMostAtOnce, "a use lies within the arena's file",
                      offset, length);
  SparseView* view = second_views_[window].load(std::memory_order_acquire);
  if (view == nullptr) [[unlikely]]
    view = map_second_view(window);
  const std::uint64_t place = offset % kWindowBytes;
  return view != nullptr && view->open(place, length) ? view->data() + place : nullptr;
}

SparseView* Arena::map_second_view(std::size_t window) try {
  const std::lock_guard lock(mutex_);
  if (SparseView* const view = second_views_[window].load(std::memory_order_relaxed)) return view;
  const std::uint64_t begin = window * kWindowBytes;
  const std::uint64_t length = std::min(kWindowBytes + kMostAtOnce, kArenaBytes - begin);
  auto view = std::make_unique<SparseView>(file_.get(), begin, length, SparseView::Rights::kReadWrite);
  if (!*view) return nullptr;
  view->keep_from_children();
  second_views_[window].store(view.get(), std::memory_order_release);
  return view.release();
} catch (const std::bad_alloc&) {
  return nullptr;
}

bool Arena::is_second_view(std::uint64_t address) const {
  return std::ranges::any_of(second_views_, [address](const std::atomic<SparseView*>& stored) {
    const SparseView* const view = stored.load(std::memory_order_relaxed);
    return view != nullptr && address - reinterpret_cast<std::uintptr_t>(view->data()) < view->length();
  });
}

// Those of the consumer's memory, wherever it has moved them.
template <typename Act>
void Arena::for_each_view(const Act& act) const {
  walk_views(identity_, [&](const Mapping& view) {
    if (!is_second_view(view.begin)) act(view);
  });
}

void Arena::reclaim_locked() {
  base::require_lock(locks::kArena);
  moved_since_reclaim_ = 0;
  std::vector<Range> live;
  for_each_view([&live](const Mapping& view) {
    live.push_back({view.file_offset, view.file_offset + (view.end - view.begin)});
  });
  std::sort(live.begin(), live.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  std::map<std::uint64_t, std::uint64_t> kept;
  std::size_t first = 0;  // of those that do not end before
  for (const auto& [begin, end] : moved_) {
    while (first < live.size() && live[first].end <= begin) ++first;
    std::uint64_t at = begin;
    for (std::size_t i = first; i < live.size() && live[i].begin < end; ++i) {
      const Range& view = live[i];
      if (view.end <= at) continue;
      if (view.begin > at) punch({at, view.begin});
      const std::uint64_t until = std::min(view.end, end);
      kept[std::max(at, view.begin)] = until;
      at = until;
    }
    if (at < end) punch({at, end});
  }
  moved_.swap(kept);
}

bool Arena::is_same_file(int file) const {
  const FileIdentity other = identify_file(file);
  return other.inode == identity_.inode && other.device == identity_.device;
}

// A peer that was seen with a hold has stored before it looks whether the pages were cut off, or it sees that they
// were. Between a processor's storing and its looking only what it has not brought out yet can come; hence the pause.
std::uint64_t Arena::retire(std::span<const Retirement> retirements) {
  const std::vector<FileRange> pages = lent_.retire(retirements);
  if (pages.empty()) return 0;
  std::this_thread::sleep_for(kStoresSettled);
  const std::lock_guard lock(mutex_);
  return_locked(pages);
  std::uint64_t bytes = 0;
  for (const FileRange& range : pages) bytes += range.end - range.begin;
  return bytes;
}

// Wherever the consumer has the views, which one walk over the map tells. The pages of the file are freed only when
// private copies of all of them have been made. Threads that sleep there on futexes are known by the file's pages so
// far.
void Arena::return_locked(const std::vector<FileRange>& pages) {
  base::require_lock(locks::kArena);
  std::vector<SharedPages> parts;
  for_each_view([&](const Mapping& view) {
    for (const FileRange& range : pages) {
      const FileRange part = common_part(range, {view.file_offset, view.file_offset + (view.end - view.begin)});
      if (part.begin >= part.end) continue;
      const std::uint64_t begin = view.begin + (part.begin - view.file_offset);
      parts.push_back({begin, begin + (part.end - part.begin), view.protection, part.begin});
    }
  });
  const auto is_returned = [&](const SharedPages& part) { return return_pages(part, file_.get()); };
  if (std::ranges::count_if(parts, is_returned) == std::ssize(parts)) {
    for (const FileRange& range : pages) punch({range.begin, range.end});
  } else {
    base::log(base::LogLevel::kError,
              "no memory to take pages away from a peer that has stopped while it wrote there; what it writes when it "
              "goes on will be seen");
  }
  if (base::is_consumer_alone()) return;
  const OtherThreads threads(OtherThreads::Look::kFutexes);
  for (const SharedPages& part : parts) wake_sleepers(threads, part.begin, part.end, file_.get(), part.offset);
}

// Of the file.
void Arena::punch(const Range& range) const {
  base::check(range.begin < range.end && range.end <= kArenaBytes && range.begin % kPage == 0 && range.end % kPage == 0,
              "whole pages of the file are given back", range.begin, range.end);
  constexpr int kMode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
  static_cast<void>(
      ::fallocate(file_.get(), kMode, static_cast<off_t>(range.begin), static_cast<off_t>(range.end - range.begin)));
}

// The child must neither see what the parent stores from now on nor be seen. Its memory is therefore what stands here
// at this moment.
void Arena::before_fork() {
  mutex_.lock();
  lent_.lock();
  plan_fork_locked();
  for (std::size_t i = 0; i < snapshot_count_; ++i) {
    const Snapshot& snapshot = snapshots_[i];
    const std::uint64_t length = snapshot.range.end - snapshot.range.begin;
    for (std::uint64_t done = 0; snapshot.copy != nullptr && done < length;) {
      const long got =
          ::syscall(SYS_pread64, file_.get(), snapshot.copy + done, length - done, snapshot.range.begin + done);
      if (got <= 0) break;
      done += static_cast<std::uint64_t>(got);
    }
  }
}

// With some room for what the consumer takes apart meanwhile.
void Arena::plan_fork_locked() {
  base::require_lock(locks::kArena);
  if (!file_) return;  // this process is a child itself, and its views are private already
  base::check(snapshots_ == nullptr && snapshot_count_ == 0, "one fork at a time is planned", snapshot_count_);
  std::size_t views = 0;
  for_each_view([&views](const Mapping&) { ++views; });
  if (views == 0) return;
  snapshot_room_ = 2 * views;
  snapshots_ = map_private<Snapshot>(snapshot_room_);
  if (snapshots_ == nullptr) return;
  for_each_view([this](const Mapping& view) {
    if (snapshot_count_ == snapshot_room_) return;
    const std::uint64_t length = view.end - view.begin;
    snapshots_[snapshot_count_++] = {{view.file_offset, view.file_offset + length}, map_private<char>(length)};
  });
}

void Arena::after_fork_in_parent() {
  base::require_lock(locks::kArena);
  for (std::size_t i = 0; i < snapshot_count_; ++i) {
    const Snapshot& snapshot = snapshots_[i];
    if (snapshot.copy != nullptr) ::munmap(snapshot.copy, snapshot.range.end - snapshot.range.begin);
  }
  forget_plan();
  lent_.unlock();
  mutex_.unlock();
}

// Here nobody changes the map but this thread, so it is read anew: what was planned for may have been unmapped before
// the fork, and something else be there. Nothing here may store into memory that is being parted.
void Arena::after_fork_in_child() {
  base::require_lock(locks::kArena);
  std::array<Mapping, 64> views;
  for (std::size_t count = views.size(); file_ && count == views.size();) {
    count = 0;
    for_each_view([&](const Mapping& view) {
      if (count < views.size()) views[count++] = view;
    });
    for (std::size_t i = 0; i < count; ++i) part_view(views[i]);
  }
  // What of the copies found no place, as its view went before the fork, stays mapped; nobody looks for it.
  forget_plan();
  moved_.clear();
  mover_ = PageMover();
  file_.reset();
  lent_.unlock();
  mutex_.unlock();
}

// In the child. What there is no copy of is at least its own as soon as it stores there.
void Arena::part_view(const Mapping& view) const {
  const std::uint64_t length = view.end - view.begin;
  const std::uint64_t end = view.file_offset + length;
  ::syscall(SYS_mmap, view.begin, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file_.get(),
            view.file_offset);
  for (std::size_t i = 0; i < snapshot_count_; ++i) {
    const auto& [range, copy] = snapshots_[i];
    const std::uint64_t from = std::max(range.begin, view.file_offset);
    const std::uint64_t until = std::min(range.end, end);
    if (copy == nullptr || from >= until) continue;
    ::syscall(SYS_mremap, copy + (from - range.begin), until - from, until - from, MREMAP_MAYMOVE | MREMAP_FIXED,
              view.begin + (from - view.file_offset));
  }
  if (view.protection != (PROT_READ | PROT_WRITE)) ::syscall(SYS_mprotect, view.begin, length, view.protection);
}

void Arena::forget_plan() {
  SOFTDAT_DEBUG_CHECK(snapshot_count_ <= snapshot_room_, "a plan has room for its views", snapshot_count_,
                      snapshot_room_);
  if (snapshots_ != nullptr) ::munmap(snapshots_, snapshot_room_ * sizeof(Snapshot));
  snapshots_ = nullptr;
  snapshot_count_ = 0;
  snapshot_room_ = 0;
}

}  // namespace softdat::memory
