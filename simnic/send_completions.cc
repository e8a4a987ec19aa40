// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/send_completions.h"

#include "base/probe.h"
#include "hca/request_rules.h"

namespace softdat::simnic {

using hca::CompletionStatus;
using hca::SendOpcode;

void SendCompletions::complete_oldest(CompletionStatus status) {
  const std::uint64_t number = queue_.completed();
  const SendEntry& oldest = queue_.at(number);
  if (oldest.opcode == SendOpcode::kBind) {
    complete_bind(status);
  } else {
    // Copied out: once it has left the queue its slot may be filled anew.
    const bool is_success = status == CompletionStatus::kSuccess;
    const hca::Completion completion{.wr_id = oldest.wr_id,
                                     .qp_context = 0,
                                     .length = is_success ? oldest.length : 0,
                                     .status = status,
                                     .opcode = hca::completion_opcode(oldest.opcode),
                                     .solicited = false};
    const std::uint32_t flags = oldest.flags;
    queue_.drop_oldest();
    const bool is_wanted = !is_success || (flags & hca::kSignaled) != 0;
    if (is_wanted) feed_.push_with_baton(completion, (flags & hca::kQuiet) != 0);
  }
  // After the push: a poster that sees everything settled may push its own completion behind this one (is_settled).
  settled_.store(number + 1, std::memory_order_release);
}

// The window's state may die with finish(), so its context is read before.
void SendCompletions::complete_bind(CompletionStatus status) {
  const std::uint64_t number = queue_.completed();
  const SendEntry bind = queue_.pop();
  const bool is_success = status == CompletionStatus::kSuccess;
  const std::uint64_t context = binds_.finish(bind, number, is_success);
  if (is_success && (bind.flags & hca::kSignaled) == 0) return;
  feed_.push_bind(bind.wr_id, context, status, (bind.flags & hca::kQuiet) != 0);
}

// In the poster's thread: the ring takes any number of producers.
void SendCompletions::complete_directly(const hca::SendRequest& request, std::uint32_t length) {
  SOFTDAT_PROBE(place_directly, feed_.context(), request.opcode, length);
  if ((request.flags & hca::kSignaled) == 0) return;
  feed_.push({.wr_id = request.wr_id,
              .qp_context = 0,
              .length = length,
              .status = CompletionStatus::kSuccess,
              .opcode = hca::completion_opcode(request.opcode),
              .solicited = false},
             (request.flags & hca::kQuiet) != 0);
}

void SendCompletions::discard() {
  while (!queue_.is_empty()) {
    const std::uint64_t number = queue_.completed();
    const SendEntry entry = queue_.pop();
    // A bind holds a reserved key and its window's state, which must be given back.
    if (entry.opcode == SendOpcode::kBind) binds_.finish(entry, number, false);
  }
  settled_.store(queue_.completed(), std::memory_order_release);
}

}  // namespace softdat::simnic
