// SPDX-License-Identifier: BSD-2-Clause
// Arena: the shared file that holds registered memory of this process, so that peers can map it. Registering moves the
// pages into the file without changing their addresses or bytes. They stay there after deregistration; pages that the
// consumer has unmapped are given back to the system from time to time. docs/decisions/0007-direct-access.md.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "memory/address_map.h"
#include "memory/file_range.h"
#include "memory/lent_pages.h"
#include "memory/lock_places.h"
#include "memory/page_mover.h"
#include "memory/sparse_view.h"

namespace softdat::memory {

// Why memory is not shared.
enum class Refusal : std::uint8_t {
  kNotMovable,    // it is no private anonymous memory
  kOtherThreads,  // a system call of another thread could fail with EFAULT while it moves
  kOthersAtWork,  // the kernel or a device may be accessing it by itself
  kThreadMemory,  // it may hold a thread's stack or control block, or a futex that a thread sleeps on
};

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

  // Those bytes of the file, for connections of this process to itself: apart from the consumer's own views, which it
  // may unmap or protect. At most kMostAtOnce bytes within the file. Null if the system refuses.
  std::byte* second_view(std::uint64_t offset, std::uint64_t length);
  static constexpr std::uint64_t kMostAtOnce = std::uint64_t{1} << 20;

  // Takes pages of the file away from peers that may still store into them. Takes back all that is lent of these pages,
  // and puts private pages with the same bytes in their place. After the return, stores of these peers do not reach
  // this process's memory. The pages of the file stay unused until the holds are over. Returns how many bytes were
  // replaced, without those already replaced for the same hold. Throws std::bad_alloc.
  std::uint64_t retire(std::span<const Retirement> retirements);

  // Called by the fork handlers, on the thread that forks.
  void before_fork();
  void after_fork_in_parent();
  void after_fork_in_child();

 private:
  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
  };
  // What a view of [begin, end) of the file shows. `copy` is null when there is no memory for it.
  struct Snapshot {
    Range range;
    char* copy;
  };

  // `unsettled` is the thread because of which the memory cannot be moved yet, or 0.
  struct Attempt {
    std::optional<std::uint64_t> offset;
    Refusal refusal = Refusal::kNotMovable;
    int unsettled = 0;
  };

  Arena(base::UniqueFd file, PageMover mover);
  Attempt try_share(const Range& pages, MoveWhen when);
  std::optional<std::uint64_t> offset_of_locked(const Range& range);
  bool is_in_place_locked(const Mapping& view);
  bool can_share_locked(const Range& range, const std::vector<Mapping>& map);
  // Parts of a range that do not lie in the file yet, and where they are to come to lie.
  struct Part {
    Range range;
    std::uint64_t offset;
  };
  std::optional<std::vector<Part>> parts_to_move_locked(const Range& range, const std::vector<Mapping>& map);
  std::optional<Refusal> move_locked(const std::vector<Part>& parts, MoveWhen when, int& unsettled);
  bool has_unseen_stacks();
  static bool may_move(const std::vector<Part>& parts, int& unsettled);
  std::optional<Refusal> move_parts_locked(const std::vector<Part>& parts, MoveWhen when);
  bool put_back_under_sleepers_locked(const std::vector<Part>& parts);
  void put_back_locked(const Part& part);
  std::optional<Refusal> move_part_locked(const Range& part, std::uint64_t offset, MoveWhen when);
  void look_around_locked();
  void add_moved_locked(const Range& range);
  void reclaim_locked();
  void return_locked(const std::vector<FileRange>& pages);
  void punch(const Range& range) const;
  template <typename Act>
  void for_each_view(const Act& act) const;
  bool is_second_view(std::uint64_t address) const;
  SparseView* map_second_view(std::size_t window);
  void plan_fork_locked();
  void part_view(const Mapping& view) const;
  void forget_plan();

  // Fixed after construction; a child of fork() gives its parent's file up.
  base::UniqueFd file_;
  const FileIdentity identity_;
  LentPages lent_;
  base::Mutex<locks::kArena> mutex_;
  // By window; null: not mapped yet. Stored with mutex_.
  std::array<std::atomic<SparseView*>, kWindows> second_views_{};
  // Guarded by mutex_.
  PageMover mover_;
  std::array<std::uint64_t, kWindows> windows_{};  // the address that each stands for, plus one; 0: none yet
  std::map<std::uint64_t, std::uint64_t> moved_;   // of the file: begin > end, apart from each other
  std::uint64_t moved_since_reclaim_ = 0;
  LinesSeen seen_;              // when we last looked
  std::size_t made_since_ = 0;  // mappings, at most
  base::Time look_again_{};
  // While a fork is under way: memory of their own, because malloc's may be what is being parted.
  Snapshot* snapshots_ = nullptr;
  std::size_t snapshot_count_ = 0;
  std::size_t snapshot_room_ = 0;
};

}  // namespace softdat::memory
