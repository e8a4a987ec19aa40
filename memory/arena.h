// SPDX-License-Identifier: BSD-2-Clause
// Arena: the shared file that holds registered memory of this process, so that peers can map it. Registering moves the
// pages into the file without changing their addresses or bytes. They stay there after deregistration; pages that the
// consumer has unmapped are given back to the system from time to time. docs/decisions/0007-direct-access.md.
//
// Owns the file and its lock, and puts the parts together that the lock guards: FileSlabs (where memory comes to
// lie), CheckedMover (whether it may move), MovedRanges (what lies there), SecondViews and ForkCopies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "memory/address_map.h"
#include "memory/checked_mover.h"
#include "memory/file_range.h"
#include "memory/file_slabs.h"
#include "memory/fork_copies.h"
#include "memory/lent_pages.h"
#include "memory/lock_places.h"
#include "memory/map_lines.h"
#include "memory/moved_ranges.h"
#include "memory/second_views.h"

namespace softdat::memory {

// Any thread.
class Arena {
 public:
  // Null if the system has no userfaultfd with write protection or no large memfd for this process.
  static std::unique_ptr<Arena> create(PageMover mover = {});
  // The arena of this process, created by the first call; null as above. It is never destroyed, because moved memory
  // stays in its file. A child made by fork() gets an arena of its own.
  static Arena* of_process();
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  int file() const { return file_.get(); }
  // The control block of a thread that begins or ends may lie anywhere. A busy machine lets it wait some milliseconds.
  static constexpr base::Duration kThreadPatience = std::chrono::seconds(1);
  // Identifies the arena on this host; never 0.
  std::uint64_t number() const { return identity_.inode; }
  bool is_same_file(int file) const;
  // The pages of the arena that NICs lend to peers.
  LentPages& lent() { return lent_; }

  // The offset of [address, address + length) in the file, after moving those pages that are not there yet. Empty if
  // some page cannot be moved, or not now (`refusal` says why); no byte has changed then. Waits without a lock, for
  // kThreadPatience at most, for a thread of this process that begins or ends. Throws std::bad_alloc.
  std::optional<std::uint64_t> share(std::uint64_t address, std::uint64_t length, MoveWhen when = MoveWhen::kAlways,
                                     Refusal* refusal = nullptr);

  // Maps these bytes of the file for connections of this process to itself (SecondViews). REQUIRES: at most kMostAtOnce
  // bytes, within the file. Null if the system refuses.
  std::byte* second_view(std::uint64_t offset, std::uint64_t length);
  static constexpr std::uint64_t kMostAtOnce = SecondViews::kMostAtOnce;

  // Takes pages of the file away from peers that may still store into them. Takes back all that is lent of these pages,
  // and puts private pages with the same bytes in their place. After the return, stores of these peers do not reach
  // this process's memory. The pages of the file stay unused until the holds are over. Returns how many bytes were
  // replaced, without those already replaced for the same hold. Throws std::bad_alloc, and then can be called again:
  // all that it has done is to take back what was lent.
  std::uint64_t retire(std::span<const Retirement> retirements);

  // Called by the fork handlers, on the thread that forks.
  void before_fork();
  void after_fork_in_parent();
  void after_fork_in_child();

 private:
  // `unsettled` is the thread because of which the memory cannot be moved yet, or 0.
  struct Attempt {
    std::optional<std::uint64_t> offset;
    Refusal refusal = Refusal::kNotMovable;
    int unsettled = 0;
  };

  Arena(base::UniqueFd file, PageMover mover);
  Attempt try_share(const AddressRange& pages, MoveWhen when);
  bool lies_in_file_locked(const AddressRange& range, std::uint64_t offset);
  bool can_share_locked(const AddressRange& range, const std::vector<Mapping>& map);
  std::optional<std::vector<CheckedMover::Part>> parts_to_move_locked(const AddressRange& range,
                                                                      const std::vector<Mapping>& map);
  void reclaim_locked();
  void return_locked(const std::vector<FileRange>& pages);
  // False if views may be missing.
  template <typename Act>
  [[nodiscard]] bool for_each_view_locked(const Act& act) const;

  // Fixed after construction; a child of fork() gives its parent's file up.
  base::UniqueFd file_;
  const FileIdentity identity_;
  LentPages lent_;
  base::Mutex<locks::kArena> mutex_;
  SecondViews second_views_;  // mapped under mutex_
  // Guarded by mutex_.
  const MapBuffer map_buffer_;  // there also when memory runs out later
  FileSlabs slabs_;
  CheckedMover mover_;
  MovedRanges moved_;
  ForkCopies fork_copies_;
};

}  // namespace softdat::memory
