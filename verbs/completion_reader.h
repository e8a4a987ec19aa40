// SPDX-License-Identifier: BSD-2-Clause
// CompletionReader: turns work completions of the device into completions for the consumer, and tells queue pairs and
// shared receive queues which of their requests have completed.
//
// Owned by its CompletionQueue. All calls REQUIRE that queue's lock.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "hca/types.h"
#include "verbs/library.h"
#include "verbs/work_ring.h"

namespace softdat::verbs {

inline WorkEntry& entry_of(const ibv_wc& wc) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): verbs gives back the number that was posted.
  return *reinterpret_cast<WorkEntry*>(wc.wr_id);
}

class CompletionReader {
 public:
  struct Result {
    hca::Completion completion;
    QueuePair* queue_pair = nullptr;  // null: a receive of a shared queue whose queue pair is gone
    bool is_quiet = false;
  };

  // Receives of a shared queue are found by the queue pair's number. Throws std::bad_alloc.
  void attach(std::uint32_t number, QueuePair& queue_pair) { queue_pairs_[number] = &queue_pair; }
  void detach(std::uint32_t number) { queue_pairs_.erase(number); }

  // Frees the entry of the request. False: the consumer does not want its completion. Completions of `dying` (null:
  // none) and of queue pairs that discard are never wanted.
  bool read(const ibv_wc& wc, const QueuePair* dying, Result& out);

  // Breaks all queue pairs: completions were lost.
  void on_overflow();

 private:
  QueuePair* queue_pair_of(const WorkEntry& entry, const ibv_wc& wc) const;

  std::unordered_map<std::uint32_t, QueuePair*> queue_pairs_;
};

}  // namespace softdat::verbs
