// SPDX-License-Identifier: BSD-2-Clause
// FaultyQueuePair: a queue pair whose posts and connects the fault plan may refuse.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "simnic/fault/faulty_carrier.h"
#include "simnic/lock_places.h"
#include "simnic/ruled_queue_pair.h"

namespace softdat::simnic::fault {

class FaultyQueuePair final : public RuledQueuePair {
 public:
  // Throws std::bad_alloc. The carrier is the engine's.
  FaultyQueuePair(const NicView& nic, const hca::QueuePairConfig& config, const PostRules& rules,
                  FaultyCarrier& carrier);
  ~FaultyQueuePair() override;

  hca::Outcome post_send(const hca::SendRequest& request) override;
  hca::Result<std::uint32_t> post_bind(const hca::BindRequest& request) override;
  hca::Outcome post_recv(const hca::RecvRequest& request) override;
  hca::Outcome connect(const hca::ConnectParameters& parameters) override;

  // With the baton. Whether receives come from a shared queue.
  bool has_srq() const { return has_srq_; }
  // The queue of receive completions is full: one is lost, and the connection breaks.
  void lose_completion();
  // Waiters for receive completions wake, and find nothing.
  void wake_spuriously() { recv_cq_.wake_all(); }

 private:
  // Why the post is to fail, if it is.
  std::optional<hca::Error> decide_post(base::FaultOp op, std::uint64_t size);

  // Fixed after construction.
  Engine& engine_;
  FaultyCarrier& carrier_;
  const std::uint32_t endpoint_;
  CompletionQueue& recv_cq_;
  const bool has_srq_;
  base::Mutex<locks::kFaultyPost> post_mutex_;  // guards the rest
  std::uint64_t posts_ = 0;
  Counts counts_{};
};

// What a refused call returns for the reason= of a plan.
hca::Error error_of_reason(const std::string& reason);

}  // namespace softdat::simnic::fault
