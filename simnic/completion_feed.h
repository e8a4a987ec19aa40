// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "base/probe.h"
#include "base/timeline.h"
#include "hca/device.h"
#include "simnic/completion_queue.h"

namespace softdat::simnic {

// One queue pair's way into a completion queue. Any thread; take_loss() with the queue pair's lane.
class CompletionFeed {
 public:
  CompletionFeed(CompletionQueue& queue, std::uint64_t context, bool wakes_if_solicited)
      : queue_(queue),
        context_(context),
        extras_(static_cast<std::uint8_t>((wakes_if_solicited ? kWakesIfSolicited : 0) |
                                          (base::Timeline::active() != nullptr ? kTimed : 0))) {}
  CompletionFeed(const CompletionFeed& other)
      : queue_(other.queue_), context_(other.context_), extras_(other.extras_) {}

  // A completion of this queue pair; context() is filled in. Inline, so that it goes from the registers to its place.
  [[gnu::always_inline]] void push(hca::Completion completion, bool is_quiet) {
    completion.qp_context = context_;
    note(queue_.push(completion, tell(completion, is_quiet)));
  }
  [[gnu::always_inline]] void push_with_baton(hca::Completion completion, bool is_quiet) {
    completion.qp_context = context_;
    const bool wakes_nobody = tell(completion, is_quiet);
    if (!queue_.give_to_poller(completion)) note(queue_.push(completion, wakes_nobody));
  }
  void push_bind(std::uint64_t wr_id, std::uint64_t window_context, hca::CompletionStatus status, bool is_quiet) {
    const hca::Completion completion{.wr_id = wr_id,
                                     .qp_context = window_context,
                                     .length = 0,
                                     .status = status,
                                     .opcode = hca::CompletionOpcode::kBind,
                                     .solicited = false};
    note(queue_.push(completion, tell(completion, is_quiet)));
  }

  // What the creator of the queue pair gave, for probes.
  std::uint64_t context() const { return context_; }
  // Any thread. Back-pressure: the consumer lags behind, so that producers that can wait should.
  bool is_filling_up() const { return queue_.ring().is_half_full(); }

  // Whether the queue was full, since the last take_loss(), when something had to go in.
  bool has_lost() const { return has_lost_.load(std::memory_order_acquire); }
  bool take_loss() { return has_lost() && has_lost_.exchange(false, std::memory_order_acq_rel); }

 private:
  // Returns whether the completion shall wake no thread.
  [[gnu::always_inline]] bool tell(const hca::Completion& completion, bool is_quiet) const {
    // One test for all that few queue pairs want.
    const bool is_unwanted =
        extras_ != 0 && tell_extras(completion.wr_id, completion.opcode, completion.status, completion.solicited);
    // As words: gdb has no names for the upper half's byte registers.
    const auto opcode = static_cast<std::uint32_t>(completion.opcode);
    const auto status = static_cast<std::uint32_t>(completion.status);
    SOFTDAT_PROBE(complete, completion.qp_context, completion.wr_id, opcode, status, completion.length);
    return is_quiet || is_unwanted;
  }
  [[gnu::always_inline]] void note(bool is_pushed) {
    if (!is_pushed) [[unlikely]]
      has_lost_.store(true, std::memory_order_release);
  }

  // Returns whether the completion shall wake no thread.
  [[gnu::noinline]] bool tell_extras(std::uint64_t wr_id, hca::CompletionOpcode opcode, hca::CompletionStatus status,
                                     bool is_solicited) const {
    const bool is_success = status == hca::CompletionStatus::kSuccess;
    base::Timeline* const timeline = (extras_ & kTimed) != 0 ? base::Timeline::active() : nullptr;
    if (timeline != nullptr && opcode != hca::CompletionOpcode::kBind) {
      timeline->endpoints().complete(context_,
                                     {.cookie = wr_id, .is_receive = is_receive(opcode), .is_success = is_success});
    }
    return (extras_ & kWakesIfSolicited) != 0 && !is_solicited && is_success;
  }

  static bool is_receive(hca::CompletionOpcode opcode) {
    using enum hca::CompletionOpcode;
    return opcode == kRecv || opcode == kRecvInvalidate || opcode == kRecvWriteImmediate || opcode == kRecvImmediate ||
           opcode == kRecvDatagram;
  }

  // Bits of extras_.
  static constexpr std::uint8_t kWakesIfSolicited = 1;  // and if failed
  static constexpr std::uint8_t kTimed = 2;             // completions are told to the timeline

  CompletionQueue& queue_;
  const std::uint64_t context_;
  const std::uint8_t extras_;
  std::atomic<bool> has_lost_{false};  // set by push(), cleared with the lane
};

// REQUIRES: the completion queue was made by this device.
inline CompletionFeed send_feed_of(const hca::QueuePairConfig& config) {
  return CompletionFeed(static_cast<CompletionQueue&>(*config.send_cq), config.context, false);
}
inline CompletionFeed recv_feed_of(const hca::QueuePairConfig& config) {
  return CompletionFeed(static_cast<CompletionQueue&>(*config.recv_cq), config.context,
                        config.recv_wakes == hca::RecvWakes::kIfSolicited);
}

}  // namespace softdat::simnic
