// SPDX-License-Identifier: BSD-2-Clause
// LentPages: the pages of an arena that this process's NICs lend to peers, each range under a number (a memory key),
// and the retired pages, which were taken away from a peer that did not finish a copy. Retired pages are not lent, and
// no memory is moved there, until that peer has let go of them or died.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "memory/file_range.h"
#include "memory/lock_places.h"

namespace softdat::memory {

// A NIC that lends pages. Called with the lock of LentPages held; must not call LentPages.
class Lender {
 public:
  // The pages under `number` are no longer lent. Must mark the number so that peers that still hold its pages see it.
  virtual void take_back(std::uint32_t number) = 0;

 protected:
  ~Lender() = default;
};

// A peer's claim on pages. `peer`, `place` and `word` together identify it, also among earlier ones.
struct Hold {
  const void* peer;
  std::uint64_t place;
  std::uint64_t word;
  // Whether the peer has let go or died. Any thread.
  std::function<bool()> is_over;

  bool is_same(const Hold& other) const { return peer == other.peer && place == other.place && word == other.word; }
};

// Pages to be taken away from a hold.
struct Retirement {
  FileRange pages;
  Hold hold;
};

// Any thread.
class LentPages {
 public:
  // Adds the pages and calls `publish` under the lock. False, without the call, if some of the pages are retired.
  // Throws std::bad_alloc.
  template <typename Publish>
  bool add(Lender& lender, std::uint32_t number, const FileRange& pages, const Publish& publish) {
    const std::lock_guard lock(mutex_);
    if (is_retired_locked(pages)) return false;
    lent_.insert_or_assign({&lender, number}, pages);
    publish();
    return true;
  }
  // Removes the pages and calls `withdraw` under the lock. Returns the pages that peers may still hold; empty, without
  // the call, if the number was not added.
  template <typename Withdraw>
  std::optional<FileRange> remove(Lender& lender, std::uint32_t number, const Withdraw& withdraw) {
    const std::lock_guard lock(mutex_);
    const auto found = lent_.find({&lender, number});
    if (found == lent_.end()) return std::nullopt;
    const FileRange pages = found->second;
    lent_.erase(found);
    withdraw();
    return pages;
  }
  // Removes all pages of a lender that is being destroyed.
  void remove_all(Lender& lender);

  // Takes back all that is lent of the pages, and retires them until their holds are over. Returns those that were not
  // yet retired for the same hold, in ascending order and disjoint. Throws std::bad_alloc without any effect. The
  // caller must then take them away, and call keep_retired(), or undo_retire() if there was no memory for that. One
  // thread at a time, from the first to the last.
  std::vector<FileRange> retire(std::span<const Retirement> retirements);
  void keep_retired();
  // What was taken back stays so.
  void undo_retire();
  // Whether pages have been taken away from this hold.
  bool is_known(const Hold& hold);
  // Forgets the holds that are over.
  void release();
  bool is_retired(const FileRange& pages);

  // For fork handlers, so that the child finds the lists consistent.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  struct Retired : Retirement {
    bool is_kept = false;  // the pages have been taken away
  };

  void release_locked();
  bool is_done_locked(const Retirement& retirement) const;
  bool is_retired_locked(const FileRange& pages);

  base::Mutex<locks::kLentPages> mutex_;
  // Guarded by mutex_.
  std::map<std::pair<Lender*, std::uint32_t>, FileRange> lent_;
  std::vector<Retired> retired_;
};

}  // namespace softdat::memory
