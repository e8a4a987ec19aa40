// SPDX-License-Identifier: BSD-2-Clause
#include "transport/direct/arena.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/guarded.h"
#include "base/moved_memory.h"
#include "transport/direct/fork_snapshot.h"
#include "transport/direct/shared_file.h"

namespace softdat::transport::direct {
namespace {

constexpr std::uint64_t kPage = 4096;
// After so much has been moved it is time to see what of it still stands.
constexpr std::uint64_t kReclaimAfter = std::uint64_t{64} << 20;
// The kernel allows a process some 65,000 mappings; what we add must leave the consumer enough.
constexpr std::size_t kMostMappings = 30'000;
// malloc gives blocks from this size on mappings of their own, which realloc may ask the kernel to grow.
constexpr std::uint64_t kGrowable = std::uint64_t{128} << 10;

bool is_own_stack(std::uint64_t begin, std::uint64_t end) {
  const auto here = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
  constexpr std::uint64_t kMargin = std::uint64_t{64} << 10;
  return begin < here + kMargin && here < end + kMargin;
}

// Memory that is not malloc's; null when there is none.
void* map_private(std::size_t length) {
  if (length == 0) return nullptr;
  void* got = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return got == MAP_FAILED ? nullptr : got;
}

}  // namespace

Arena::Arena(base::UniqueFd file) : file_(std::move(file)), identity_(identify_file(file_.get())) {
  follow_forks(*this);
}

Arena::~Arena() {
  ignore_forks(*this);
}

std::unique_ptr<Arena> Arena::create() {
  base::UniqueFd file = create_shared_file(base::kMovedMemory, kArenaBytes);
  if (!file) return nullptr;
  std::unique_ptr<Arena> arena(new Arena(std::move(file)));
  return arena->mover_.is_able() ? std::move(arena) : nullptr;
}

// A child needs one of its own: its parent's holds its parent's memory.
Arena* Arena::of_process() {
  struct Instance {
    Arena* arena = nullptr;
    unsigned generation = 0;
  };
  static auto* const guarded = new base::Guarded<Instance>();
  const auto instance = guarded->lock();
  if (instance->arena == nullptr || instance->generation != fork_generation()) {
    *instance = {create().release(), fork_generation()};
  }
  return instance->arena;
}

std::optional<std::uint64_t> Arena::share(std::uint64_t address, std::uint64_t length) {
  if (length == 0 || address + length + kPage < address) return std::nullopt;
  const Range pages{.begin = address / kPage * kPage, .end = (address + length + kPage - 1) / kPage * kPage};
  const std::lock_guard lock(mutex_);
  const auto offset = offset_of_locked(pages);
  if (!offset) return std::nullopt;
  const AddressMap map = read_address_map(pages.begin, pages.end, identity_);
  if (!can_share_locked(pages, map) || !move_locked(pages, map)) return std::nullopt;
  if (moved_since_reclaim_ >= kReclaimAfter) reclaim_locked();
  return *offset + (address - pages.begin);
}

// By window, which is assigned when first needed. A range that leaves its window has no place.
std::optional<std::uint64_t> Arena::offset_of_locked(const Range& range) {
  const std::uint64_t base = range.begin / kWindowBytes * kWindowBytes;
  if (range.end - base > kWindowBytes) return std::nullopt;
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    if (windows_[i] == 0) windows_[i] = base + 1;
    if (windows_[i] == base + 1) return i * kWindowBytes + (range.begin - base);
  }
  return std::nullopt;
}

bool Arena::can_share_locked(const Range& range, const AddressMap& map) {
  if (map.count > kMostMappings || is_own_stack(range.begin, range.end)) return false;
  std::uint64_t known = range.begin;
  for (const Mapping& mapping : map.mappings) {
    if (mapping.end <= range.begin || mapping.begin >= range.end) continue;
    if (mapping.begin > known || mapping.kind == MappingKind::kForeign) return false;
    // A view that the consumer has moved about with mremap() is not where we look for it.
    const auto expected = offset_of_locked({mapping.begin, mapping.end});
    if (mapping.kind == MappingKind::kArena && expected != mapping.file_offset) return false;
    known = mapping.end;
  }
  return known >= range.end;
}

bool Arena::move_locked(const Range& range, const AddressMap& map) {
  for (const Mapping& mapping : map.mappings) {
    const Range part{std::max(mapping.begin, range.begin), std::min(mapping.end, range.end)};
    if (mapping.kind != MappingKind::kPlain || part.begin >= part.end) continue;
    const auto offset = offset_of_locked(part);
    if (!offset) return false;
    // First, because it takes memory; what is known of as moved and was not does no harm.
    add_moved_locked(part);
    if (!mover_.move(part.begin, part.end, file_.get(), *offset)) return false;
    // Were the view in one piece, mremap() could grow it over its neighbours' bytes in the file. In two it is told to
    // move the memory by copying.
    if (part.end - part.begin >= kGrowable) {
      ::syscall(SYS_madvise, part.end - kPage, kPage, MADV_RANDOM);
    }
  }
  return true;
}

void Arena::add_moved_locked(const Range& range) {
  moved_since_reclaim_ += range.end - range.begin;
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
}

// The parts of [begin, end) that are still views of the arena, where they belong.
std::vector<Arena::Range> Arena::views_locked(std::uint64_t begin, std::uint64_t end) {
  std::vector<Range> views;
  for (const Mapping& mapping : read_address_map(begin, end, identity_).mappings) {
    if (mapping.kind != MappingKind::kArena) continue;
    if (offset_of_locked({mapping.begin, mapping.end}) != mapping.file_offset) continue;
    views.push_back({mapping.begin, mapping.end});
  }
  return views;
}

void Arena::reclaim_locked() {
  moved_since_reclaim_ = 0;
  const std::vector<Range> views = views_locked(0, ~std::uint64_t{0});
  std::map<std::uint64_t, std::uint64_t> kept;
  for (const auto& [begin, end] : moved_) {
    std::uint64_t at = begin;
    for (const Range& view : views) {
      if (view.end <= at || view.begin >= end) continue;
      if (view.begin > at) punch_locked({at, view.begin});
      const std::uint64_t until = std::min(view.end, end);
      kept[std::max(at, view.begin)] = until;
      at = until;
    }
    if (at < end) punch_locked({at, end});
  }
  moved_.swap(kept);
}

void Arena::punch_locked(const Range& range) {
  const auto offset = offset_of_locked(range);
  if (!offset) return;
  constexpr int kMode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
  static_cast<void>(
      ::fallocate(file_.get(), kMode, static_cast<off_t>(*offset), static_cast<off_t>(range.end - range.begin)));
}

// The child must neither see what the parent stores from now on nor be seen. Its memory is therefore what stands here
// at this moment; that is copied now, so that no thread of the parent can come in between.
void Arena::plan_fork() {
  mutex_.lock();
  std::vector<Range> ranges;
  for (const auto& [begin, end] : moved_) {
    for (const Range& view : views_locked(begin, end)) {
      ranges.push_back({std::max(view.begin, begin), std::min(view.end, end)});
    }
  }
  snapshot_count_ = 0;
  snapshots_ = static_cast<Snapshot*>(map_private(ranges.size() * sizeof(Snapshot)));
  for (const Range& range : ranges) {
    if (snapshots_ == nullptr) break;
    snapshots_[snapshot_count_++] = {range, *offset_of_locked(range), map_private(range.end - range.begin)};
  }
}

// The plan itself may lie on the pages that it is about, and so may everything of malloc's: from here to the fork this
// thread stores into the copies alone.
void Arena::copy_for_fork() {
  for (std::size_t i = 0; i < snapshot_count_; ++i) {
    const Snapshot& snapshot = snapshots_[i];
    const std::uint64_t length = snapshot.range.end - snapshot.range.begin;
    for (std::uint64_t done = 0; snapshot.copy != nullptr && done < length;) {
      const long got = ::syscall(SYS_pread64, file_.get(), static_cast<char*>(snapshot.copy) + done, length - done,
                                 snapshot.offset + done);
      if (got <= 0) break;
      done += static_cast<std::uint64_t>(got);
    }
  }
}

void Arena::after_fork_in_parent() {
  for (std::size_t i = 0; i < snapshot_count_; ++i) {
    const Snapshot& snapshot = snapshots_[i];
    if (snapshot.copy != nullptr) ::munmap(snapshot.copy, snapshot.range.end - snapshot.range.begin);
  }
  forget_snapshots();
  mutex_.unlock();
}

// Nothing here may store into memory that is being exchanged, hence no library calls but those of the kernel.
void Arena::after_fork_in_child() {
  for (std::size_t i = 0; i < snapshot_count_; ++i) {
    const Snapshot& snapshot = snapshots_[i];
    const std::uint64_t begin = snapshot.range.begin;
    const std::uint64_t length = snapshot.range.end - begin;
    if (snapshot.copy != nullptr) {
      ::syscall(SYS_mremap, snapshot.copy, length, length, MREMAP_MAYMOVE | MREMAP_FIXED, begin);
    } else {
      // No memory for a copy: at least what the child stores stays its own.
      ::syscall(SYS_mmap, begin, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file_.get(), snapshot.offset);
    }
  }
  forget_snapshots();
  moved_.clear();
  mover_ = PageMover();
  mutex_.unlock();
}

void Arena::forget_snapshots() {
  if (snapshots_ != nullptr) ::munmap(snapshots_, snapshot_count_ * sizeof(Snapshot));
  snapshots_ = nullptr;
  snapshot_count_ = 0;
}

}  // namespace softdat::transport::direct
