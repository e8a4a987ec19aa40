// SPDX-License-Identifier: BSD-2-Clause
// Receives, and how many of them there may be.
#include "simnic/engine.h"
#include "simnic/queue_pair.h"
#include "simnic/receive_request.h"

namespace softdat::simnic {

hca::Outcome QueuePair::post_recv(const hca::RecvRequest& request) {
  if (shared_ != nullptr) return hca::fail(hca::Error::kInvalidState);
  {
    const std::lock_guard lock(recv_mutex_);
    ResolvedSegment found;
    const hca::Outcome outcome = check_receive(memory_, recv_regions_, request, limits_.recv_sge, found);
    if (!outcome) return outcome;
    auto& queue = responder_.queue();
    if (is_retired_) return hca::fail(hca::Error::kInvalidState);
    if (queue.is_full()) return hca::fail(hca::Error::kLimitReached);
    const std::uint64_t length = push_receive(request, found, queue);
    counters_.add(hca::Transfer::kPostRecv, length);
    if (direct_.publishes(length)) [[unlikely]] {
      direct_.publish_receive(queue.posted() - 1, queue.completed(), request.local);
    }
  }
  // Usually no message waits for the receive, and the engine need not be rung. All looks must follow the push: a thread
  // that sets is_starved, enters kError or sets a limit looks at the queue afterwards.
  const bool is_alarming = recv_limits_.is_alarming([this] { return recvs_outstanding(); });
  if (responder_.receives().is_starved() || state() == hca::QueuePairState::kError || is_alarming)
    nic_.engine.ring(*this);
  return hca::Done{};
}

void QueuePair::set_recv_limits(std::uint32_t soft, std::uint32_t hard) {
  const Engine::Hold hold(nic_.engine);
  const Entry entry(*this);
  recv_limits_.set(soft, hard);
  obeys_recv_limits();
}

// False when the connection has been broken for it.
bool QueuePair::enforce_recv_limits() {
  const std::uint32_t count = recvs_outstanding();
  if (recv_limits_.takes_soft(count) && sink_ != nullptr)
    nic_.engine.upcalls().post_counted(this, RecvLimitUpcall{sink_});
  if (!recv_limits_.exceeds_hard(count) || !is_open()) return true;
  terminate({.code = kLocalCatastrophe});
  return false;
}

}  // namespace softdat::simnic
