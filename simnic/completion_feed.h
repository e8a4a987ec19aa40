// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "simnic/completion_queue.h"

namespace softdat::simnic {

// One queue pair's way into a completion queue. push() from any thread, the rest is the baton's.
class CompletionFeed {
 public:
  CompletionFeed(CompletionQueue& queue, std::uint64_t context) : queue_(queue), context_(context) {}
  CompletionFeed(const CompletionFeed& other) : queue_(other.queue_), context_(other.context_) {}

  void push(std::uint64_t wr_id, hca::CompletionOpcode opcode, hca::CompletionStatus status, std::uint32_t length,
            bool is_solicited, bool is_quiet, std::uint16_t srq_account = 0, std::uint32_t extra = 0) {
    const bool voids_key = opcode == hca::CompletionOpcode::kRecvInvalidate;
    push({.wr_id = wr_id,
          .qp_context = context_,
          .length = length,
          .status = status,
          .opcode = opcode,
          .solicited = is_solicited,
          .invalidated = voids_key ? extra : 0,
          .srq_account = srq_account,
          .immediate = voids_key ? 0 : extra},
         is_quiet);
  }
  void push_bind(std::uint64_t wr_id, std::uint64_t window_context, hca::CompletionStatus status, bool is_quiet) {
    push({.wr_id = wr_id,
          .qp_context = window_context,
          .length = 0,
          .status = status,
          .opcode = hca::CompletionOpcode::kBind,
          .solicited = false},
         is_quiet);
  }

  // Any thread: as of the queue.
  bool is_filling_up() const { return queue_.is_filling_up(); }

  // Whether the queue was full, since the last take_loss(), when something had to go in.
  bool has_lost() const { return has_lost_.load(std::memory_order_acquire); }
  bool take_loss() { return has_lost() && has_lost_.exchange(false, std::memory_order_acq_rel); }

 private:
  void push(const hca::Completion& completion, bool is_quiet) {
    if (!queue_.push(completion, is_quiet)) has_lost_.store(true, std::memory_order_release);
  }

  CompletionQueue& queue_;
  const std::uint64_t context_;
  std::atomic<bool> has_lost_{false};  // set by whoever pushes, cleared with the baton
};

// Of a queue that the device made, as every one that is named to it.
inline CompletionFeed feed_of(hca::CompletionQueue& queue, std::uint64_t context) {
  return CompletionFeed(static_cast<CompletionQueue&>(queue), context);
}

}  // namespace softdat::simnic
