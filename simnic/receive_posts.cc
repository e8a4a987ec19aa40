// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/receive_posts.h"

#include <mutex>

#include "simnic/receive_request.h"

namespace softdat::simnic {

hca::Result<ReceivePosted> ReceivePosts::post(const hca::RecvRequest& request, WorkQueue<RecvEntry>& queue) {
  if (shared_ != nullptr) return hca::fail(hca::Error::kInvalidState);
  const std::lock_guard lock(mutex_);
  ResolvedSegment found;
  const hca::Outcome outcome = check_receive(memory_, regions_, request, max_segments_, found);
  if (!outcome) return hca::fail(outcome.reason());
  // Its receives have passed to another queue pair (inherit_recvs).
  if (is_retired_) return hca::fail(hca::Error::kInvalidState);
  if (queue.is_full()) return hca::fail(hca::Error::kLimitReached);
  const std::uint64_t length = push_receive(request, found, queue);
  counters_.add(hca::Transfer::kPostRecv, length);
  // Senders with direct access put large payloads straight into published receives (decision 7, "Sends").
  if (direct_.publishes(length)) [[unlikely]] {
    direct_.publish_receive(queue.posted() - 1, queue.completed(), request.local);
  }
  const bool must_ring = is_starved_ || state_.load(std::memory_order_relaxed) == hca::QueuePairState::kError ||
                         limits_.is_alarming([&] { return queue.outstanding(); });
  return must_ring ? ReceivePosted::kMustRing : ReceivePosted::kDone;
}

bool ReceivePosts::starve(const WorkQueue<RecvEntry>& queue) {
  base::require_lock(locks::kBaton);
  const std::lock_guard lock(mutex_);
  is_starved_ = queue.is_empty();
  return is_starved_;
}

void ReceivePosts::sate() {
  base::require_lock(locks::kBaton);
  const std::lock_guard lock(mutex_);
  is_starved_ = false;
}

}  // namespace softdat::simnic
