// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <utility>

#include "simnic/completion_queue.h"

namespace softdat::simnic {

// One queue pair's way into a completion queue. Owned by the baton.
class CompletionFeed {
 public:
  CompletionFeed(CompletionQueue& queue, std::uint64_t context) : queue_(queue), context_(context) {}

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

  // Whether the queue was full, since the last take_loss(), when something had to go in.
  bool has_lost() const { return has_lost_; }
  bool take_loss() { return std::exchange(has_lost_, false); }

 private:
  void push(const hca::Completion& completion, bool is_quiet) {
    if (!queue_.push(completion, is_quiet)) has_lost_ = true;
  }

  CompletionQueue& queue_;
  const std::uint64_t context_;
  bool has_lost_ = false;
};

// Of a queue that the device made, as every one that is named to it.
inline CompletionFeed feed_of(hca::CompletionQueue& queue, std::uint64_t context) {
  return CompletionFeed(static_cast<CompletionQueue&>(queue), context);
}

}  // namespace softdat::simnic
