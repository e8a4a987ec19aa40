// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/work_queue.h"

#include <algorithm>

#include "verbs/memory_region.h"

namespace softdat::verbs {

WorkQueue::WorkQueue(const WorkQueueParts& parts, bool is_receive)
    : device_(parts.device),
      limits_(parts.config.limits),
      state_(parts.state),
      device_pair_(parts.device_pair),
      domain_(static_cast<ProtectionDomain&>(*parts.config.pd)),
      domain_id_(domain_.id()),
      counters_(parts.counters),
      completions_(static_cast<CompletionQueue&>(is_receive ? *parts.config.recv_cq : *parts.config.send_cq)),
      ring_(std::max(is_receive ? limits_.recv_wr : limits_.send_wr, 1u), &parts.owner, is_receive),
      context_(parts.config.context) {}

// Requests that are left still hold slots of the completion queue, which outlives this queue pair.
WorkQueue::~WorkQueue() {
  for (std::uint32_t i = 0; i < ring_.outstanding(); ++i) {
    if (ring_.at(i).is_counted) completions_.discount_unwanted();
  }
}

void WorkQueue::commit_unposted(WorkEntry& entry) {
  ring_.commit(entry);
  if (is_flushed_) flush();
}

// The oldest request decides: those that the device does not have were posted after those it has.
bool WorkQueue::is_device_done() {
  drain();
  return ring_.is_empty() || !ring_.front().is_with_device;
}

void WorkQueue::flush() {
  while (!ring_.is_empty()) {
    // Copied, because complete() gives the entry back.
    WorkEntry& oldest = ring_.front();
    const WorkEntry entry = oldest;
    complete(oldest, hca::CompletionStatus::kFlushed);
    if (entry.is_invalidation()) continue;
    completions_.push({.wr_id = entry.cookie,
                       .qp_context = entry.window == nullptr ? context_ : entry.window->context(),
                       .length = 0,
                       .status = hca::CompletionStatus::kFlushed,
                       .opcode = entry.opcode,
                       .solicited = false},
                      (entry.flags & hca::kQuiet) != 0);
  }
  is_flushed_ = true;
}

}  // namespace softdat::verbs
