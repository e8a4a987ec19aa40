// SPDX-License-Identifier: BSD-2-Clause
#include "memory/fork_copies.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "base/assert.h"
#include "memory/lock_places.h"

namespace softdat::memory {
namespace {

// Memory that is not malloc's; null when there is none.
template <typename T>
T* map_private(std::size_t count) {
  void* got = ::mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return got == MAP_FAILED ? nullptr : static_cast<T*>(got);
}

bool read_whole(int file, const FileRange& range, char* to) {
  for (std::uint64_t at = range.begin; at < range.end;) {
    const long got = ::syscall(SYS_pread64, file, to + (at - range.begin), range.end - at, at);
    if (got <= 0) return false;
    at += static_cast<std::uint64_t>(got);
  }
  return true;
}

// Pages of the file until the child stores there, and never the parent's. A mapping into which nobody can store needs
// no memory of its own; if there is none for that either, nothing is left there.
void map_file_privately(const Mapping& view, int file) {
  const std::uint64_t length = view.end - view.begin;
  for (const int protection : {PROT_READ | PROT_WRITE, PROT_READ}) {
    const long got =
        ::syscall(SYS_mmap, view.begin, length, protection, MAP_PRIVATE | MAP_FIXED, file, view.file_offset);
    if (got != -1) return;
  }
  ::syscall(SYS_munmap, view.begin, length);
}

}  // namespace

void ForkCopies::make_room(std::size_t copies) {
  base::require_lock(locks::kArena);
  base::check(copies_ == nullptr && count_ == 0, "one fork at a time is planned", count_);
  copies_ = map_private<Copy>(copies);
  room_ = copies_ == nullptr ? 0 : copies;
}

void ForkCopies::add(const FileRange& range) {
  base::require_lock(locks::kArena);
  if (count_ < room_) copies_[count_++] = {range, map_private<char>(range.end - range.begin)};
}

void ForkCopies::read(int file) {
  base::require_lock(locks::kArena);
  for (std::size_t i = 0; i < count_; ++i) {
    auto& [range, bytes] = copies_[i];
    if (bytes == nullptr || read_whole(file, range, bytes)) continue;
    // The child would take what was not read for zeros.
    ::munmap(bytes, range.end - range.begin);
    bytes = nullptr;
  }
}

void ForkCopies::drop() {
  base::require_lock(locks::kArena);
  for (std::size_t i = 0; i < count_; ++i) {
    const auto& [range, bytes] = copies_[i];
    if (bytes != nullptr) ::munmap(bytes, range.end - range.begin);
  }
  forget();
}

void ForkCopies::replace(const Mapping& view, int file) const {
  base::require_lock(locks::kArena);
  const std::uint64_t length = view.end - view.begin;
  const std::uint64_t end = view.file_offset + length;
  map_file_privately(view, file);
  for (std::size_t i = 0; i < count_; ++i) {
    const auto& [range, bytes] = copies_[i];
    const std::uint64_t from = std::max(range.begin, view.file_offset);
    const std::uint64_t until = std::min(range.end, end);
    // The view may have been cut since the plan was made, so only the part common to copy and view moves.
    if (bytes == nullptr || from >= until) continue;
    ::syscall(SYS_mremap, bytes + (from - range.begin), until - from, until - from, MREMAP_MAYMOVE | MREMAP_FIXED,
              view.begin + (from - view.file_offset));
  }
  if (view.protection != (PROT_READ | PROT_WRITE)) ::syscall(SYS_mprotect, view.begin, length, view.protection);
}

void ForkCopies::forget() {
  base::require_lock(locks::kArena);
  SOFTDAT_DEBUG_CHECK(count_ <= room_, "a plan has room for its views", count_, room_);
  if (copies_ != nullptr) ::munmap(copies_, room_ * sizeof(Copy));
  copies_ = nullptr;
  count_ = 0;
  room_ = 0;
}

}  // namespace softdat::memory
