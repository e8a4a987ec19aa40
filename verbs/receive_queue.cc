// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/receive_queue.h"

namespace softdat::verbs {

ReceiveQueue::ReceiveQueue(const WorkQueueParts& parts)
    : WorkQueue(parts, true),
      has_srq_(parts.config.srq != nullptr),
      segments_(ring_.places() * limits_.recv_sge),
      segment_counts_(ring_.places()) {}

// The old ibv_qp keeps its copies of the receives; the caller discards it (QueuePair::inherit_recvs).
hca::Outcome ReceiveQueue::inherit_locked(ReceiveQueue& from) {
  base::require_lock(locks::kVerbsPostReceive);
  if (is_retired() || from.is_retired() || has_srq_ || from.has_srq_) return hca::fail(hca::Error::kInvalidState);
  WorkRing& theirs = from.ring_;
  const std::uint32_t count = theirs.outstanding();
  if (count > limits_.recv_wr - ring_.outstanding()) return hca::fail(hca::Error::kLimitReached);
  for (std::uint32_t i = 0; i < count; ++i) {
    const WorkEntry& entry = theirs.at(i);
    const std::size_t index = theirs.place_of(entry);
    const hca::Segment* const segments = from.segments_.data() + index * from.limits_.recv_sge;
    const hca::Outcome posted = post_locked(
        {.wr_id = entry.cookie, .flags = entry.flags, .local = {segments, from.segment_counts_[index]}}, entry.length);
    if (!posted) return hca::fail(hca::Error::kLimitReached);
  }
  from.is_retired_.store(true, std::memory_order_seq_cst);
  return hca::Done{};
}

hca::Outcome ReceiveQueue::retire_locked() {
  base::require_lock(locks::kVerbsPostReceive);
  if (is_retired() || outstanding() > 0) return hca::fail(hca::Error::kInvalidState);
  is_retired_.store(true, std::memory_order_seq_cst);
  return hca::Done{};
}

void ReceiveQueue::set_limits(std::uint32_t soft, std::uint32_t hard) {
  soft_limit_.store(soft, std::memory_order_seq_cst);
  hard_limit_.store(hard, std::memory_order_seq_cst);
}

bool ReceiveQueue::is_over_hard_limit() const {
  const std::uint32_t hard = hard_limit_.load(std::memory_order_seq_cst);
  return outstanding() > hard;
}

// Taken by the event thread. It disarms, so one excess is told once.
bool ReceiveQueue::take_soft_limit() {
  const std::uint32_t soft = soft_limit_.load(std::memory_order_seq_cst);
  if (soft == hca::kNoRecvLimit || outstanding() <= soft) return false;
  soft_limit_.store(hca::kNoRecvLimit, std::memory_order_seq_cst);
  return true;
}

}  // namespace softdat::verbs
