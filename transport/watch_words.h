// SPDX-License-Identifier: BSD-2-Clause
// WatchWords: where a polling thread looks without the baton: the words with which the next records of the peers will
// begin. A carrier publishes them while they are all that a poll has to look at.
//
// The carrier writes the addresses, with the baton. A reader may load a word of a link that has just ended. The carrier
// keeps its address readable (shm/segment_places.h). The load is guarded all the same, and a fault counts as news. The
// value only decides whether the reader takes the baton for a full look.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <span>

#include "base/fault_guard.h"

namespace softdat::transport {

class WatchWords {
 public:
  static constexpr std::size_t kMost = 4;

  // Any thread. False: something has come, or it takes more than a look at words to know.
  bool are_quiet() const {
#if defined(__x86_64__)
    const std::size_t count = count_.load(std::memory_order_acquire);
    if (count == 0 || !base::has_guarded_instructions()) return false;
    for (std::size_t i = 0; i < count; ++i) {
      const std::byte* const word = words_[i].load(std::memory_order_relaxed);
      asm goto(SOFTDAT_GUARDED("cmpq $0, (%[word])\njne %l[something]", something)
               :
               : [word] "r"(word)
               : "cc", "memory"
               : something);
    }
    return true;
  something:
#endif
    return false;
  }

  // With the baton.
  bool are_published() const {
    return count_.load(std::memory_order_relaxed) != 0;
  }
  void clear() {
    count_.store(0, std::memory_order_relaxed);
  }
  // REQUIRES: count <= kMost, and words of eight bytes.
  void publish(std::size_t count) {
    count_.store(count, std::memory_order_release);
  }
  void set(std::size_t at, const std::byte* word) {
    words_[at].store(word, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::size_t> count_{0};  // 0: a poll has more to look at
  std::array<std::atomic<const std::byte*>, kMost> words_{};
};

}  // namespace softdat::transport
