// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/receive_completions.h"

namespace softdat::simnic {

using hca::CompletionOpcode;
using hca::CompletionStatus;

void ReceiveCompletions::complete_oldest(CompletionStatus status, std::uint32_t length, bool is_solicited,
                                         CompletionOpcode opcode, std::uint32_t extra) {
  base::require_lock(locks::kBaton);
  const RecvEntry& oldest = queue_.at(queue_.completed());
  const bool voids_key = opcode == CompletionOpcode::kRecvInvalidate;
  const hca::Completion completion{.wr_id = oldest.wr_id,
                                   .qp_context = 0,
                                   .length = length,
                                   .status = status,
                                   .opcode = opcode,
                                   .solicited = is_solicited,
                                   .invalidated = voids_key ? extra : 0,
                                   .srq_account = shared_ == nullptr ? std::uint16_t{0} : shared_->account(),
                                   .immediate = voids_key ? 0 : extra};
  const bool is_quiet = (oldest.flags & hca::kQuiet) != 0;
  // The completion was put together before: a poster may fill the slot as soon as it has left the queue.
  queue_.drop_oldest();
  if (status == CompletionStatus::kSuccess) [[likely]]
    counters_.add(transfer_of(opcode), length);
  else
    counters_.fail_receive(status);
  feed_.push_with_baton(completion, is_quiet);
}

void ReceiveCompletions::flush(CompletionStatus blamed) {
  base::require_lock(locks::kBaton);
  for (CompletionStatus status = blamed; !queue_.is_empty(); status = CompletionStatus::kFlushed) {
    complete_oldest(status, 0, false, flushed_as_);
  }
}

void ReceiveCompletions::discard() {
  base::require_lock(locks::kBaton);
  if (shared_ != nullptr) return flush(CompletionStatus::kFlushed);
  while (!queue_.is_empty()) queue_.drop_oldest();
}

}  // namespace softdat::simnic
