// SPDX-License-Identifier: BSD-2-Clause
// LentPages: which pages of an arena its process's NICs lend to peers, each under a number (a memory key), and which
// pages are retired: taken away from a peer that stood still in the middle of a copy. Retired pages are out of use
// (nobody lends them, nothing is moved there) until that peer has let go of them or died.
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

namespace softdat::memory {

// Who lends pages. Called with the lock of LentPages held; calls nothing here.
class Lender {
 public:
  // The pages under that number are lent no longer, and peers that still hold some of them must learn of it first.
  virtual void take_back(std::uint32_t number) = 0;

 protected:
  ~Lender() = default;
};

// A peer that holds pages: the three words tell it from every other, earlier ones too.
struct Hold {
  const void* peer;
  std::uint64_t place;
  std::uint64_t word;
  // Whether the peer has let go, or has died. Any thread.
  std::function<bool()> is_over;

  bool is_same(const Hold& other) const { return peer == other.peer && place == other.place && word == other.word; }
};

// Pages that are to be taken away from a hold.
struct Retirement {
  FileRange pages;
  Hold hold;
};

// Any thread.
class LentPages {
 public:
  // Calls `publish` unless some of the pages are retired (then false). Nobody else adds or removes that number
  // meanwhile. Throws std::bad_alloc.
  template <typename Publish>
  bool add(Lender& lender, std::uint32_t number, const FileRange& pages, const Publish& publish) {
    const std::lock_guard lock(mutex_);
    if (is_retired_locked(pages)) return false;
    lent_.insert_or_assign({&lender, number}, pages);
    publish();
    return true;
  }
  // Calls `withdraw`: the pages that peers may hold under that number. Nothing, and no call, when it was not added.
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
  // The lender goes, whatever it still lends.
  void remove_all(Lender& lender);

  // Takes back all that is lent of the pages. They are retired until their hold is over. Returns those that were not
  // retired for their hold before: in ascending order, apart from each other. Throws std::bad_alloc, and nothing has
  // happened then.
  std::vector<FileRange> retire(std::span<const Retirement> retirements);
  // Whether pages have been taken away from this hold.
  bool is_known(const Hold& hold);
  // Forgets the holds that are over.
  void release();
  bool is_retired(const FileRange& pages);

  // For forks: the child finds the lists whole.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  void release_locked();
  bool is_done_locked(const Retirement& retirement) const;
  bool is_retired_locked(const FileRange& pages);

  std::mutex mutex_;
  // Guarded by mutex_.
  std::map<std::pair<Lender*, std::uint32_t>, FileRange> lent_;
  std::vector<Retirement> retired_;
};

}  // namespace softdat::memory
