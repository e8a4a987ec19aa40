// SPDX-License-Identifier: BSD-2-Clause
// PublishedKeys: which keys of this process's boards open which pages of its arena, and which of these pages are
// retired: taken away from a peer that stood still with a pin on them. Retired pages are out of use (no key names them,
// nothing is moved there) until that pin is gone.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "transport/direct/board.h"
#include "transport/direct/layout.h"
#include "transport/direct/peer.h"

namespace softdat::transport::direct {

// Pages that are to be taken away from under a pin.
struct Retirement {
  StandingPin pin;
  FileRange pages;
};

// Any thread.
class PublishedKeys {
 public:
  // Publishes the key on that board, unless some of its pages are retired. Nobody else publishes or withdraws it
  // meanwhile. Throws std::bad_alloc.
  bool add(Board& board, std::uint32_t key, const Grant& grant, std::uint64_t offset);
  // Withdraws it. The pages that peers may have pinned through it; nothing when it was not published.
  std::optional<FileRange> remove(Board& board, std::uint32_t key);

  // Withdraws every key that opens any of the pages, after telling the holders of pins. The pages are retired until
  // their pin is over. Returns those that were not retired for their pin before: in ascending order, apart from each
  // other. Throws std::bad_alloc, and nothing has happened then.
  std::vector<FileRange> retire(std::span<const Retirement> retirements);
  // Whether pages have been taken away from under this pin.
  bool is_known(const StandingPin& pin);
  // Lets go of peers that hold no pin any more, or have died.
  void release();
  // Whether any of the pages is retired.
  bool is_retired(const FileRange& pages);
  // The board goes, whatever is published on it.
  void forget(Board& board);

  // For forks: the child finds the lists whole.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  void release_locked();
  bool is_done_locked(const Retirement& retirement) const;
  bool is_retired_locked(const FileRange& pages);

  std::mutex mutex_;
  // Guarded by mutex_.
  std::map<std::pair<Board*, std::uint32_t>, FileRange> published_;
  std::vector<Retirement> retired_;
};

}  // namespace softdat::transport::direct
