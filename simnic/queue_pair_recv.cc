// SPDX-License-Identifier: BSD-2-Clause
// Receives, and how many of them there may be.
#include <algorithm>

#include "simnic/engine.h"
#include "simnic/queue_pair.h"
#include "simnic/receive_request.h"

namespace softdat::simnic {

hca::Outcome QueuePair::post_recv(const hca::RecvRequest& request) {
  if (shared_ != nullptr) return hca::fail(hca::Error::kInvalidState);
  auto entry = make_recv_entry(memory_, request, limits_.recv_sge);
  if (!entry) return hca::fail(entry.reason());
  {
    const std::lock_guard lock(recv_mutex_);
    if (is_retired_) return hca::fail(hca::Error::kInvalidState);
    if (responder_.queue().is_full()) return hca::fail(hca::Error::kLimitReached);
    responder_.queue().push(*entry, request.local);
    counters_.add(hca::Transfer::kPostRecv, entry->length);
  }
  // Usually nobody waits for it and the baton can be left alone. All looks come after the push:
  // whoever starves, enters kError, or sets a limit looks at the queue afterwards.
  const std::uint32_t alarm = recv_alarm_.load(std::memory_order_seq_cst);
  const bool is_alarming = alarm != hca::kNoRecvLimit && recvs_outstanding() > alarm;
  if (responder_.is_starved() || state() == hca::QueuePairState::kError || is_alarming) nic_.engine.ring(*this);
  return hca::Done{};
}

void QueuePair::set_recv_limits(std::uint32_t soft, std::uint32_t hard) {
  const Engine::Hold hold(nic_.engine);
  soft_recv_limit_ = soft;
  hard_recv_limit_ = hard;
  recv_alarm_.store(std::min(soft, hard), std::memory_order_seq_cst);
  obeys_recv_limits();
}

// False when the connection has been broken for it.
bool QueuePair::obeys_recv_limits() {
  if (soft_recv_limit_ == hca::kNoRecvLimit && hard_recv_limit_ == hca::kNoRecvLimit) [[likely]]
    return true;
  const std::uint32_t count = recvs_outstanding();
  if (count > soft_recv_limit_) {
    soft_recv_limit_ = hca::kNoRecvLimit;
    recv_alarm_.store(hard_recv_limit_, std::memory_order_seq_cst);
    if (sink_ != nullptr) nic_.engine.upward().push(this, RecvLimitNews{sink_});
  }
  if (count <= hard_recv_limit_ || !is_open()) return true;
  terminate({.code = kLocalCatastrophe});
  return false;
}

}  // namespace softdat::simnic
