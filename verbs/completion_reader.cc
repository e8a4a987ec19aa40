// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/completion_reader.h"

#include "base/assert.h"
#include "verbs/lock_places.h"
#include "verbs/queue_pair.h"
#include "verbs/shared_receive_queue.h"
#include "verbs/status.h"

namespace softdat::verbs {
namespace {

// A failed work completion has a valid wr_id and status; its other fields are not read.
hca::Completion completion_of(const ibv_wc& wc, const WorkEntry& entry, std::uint64_t context) {
  hca::Completion result{.wr_id = entry.cookie,
                         .qp_context = context,
                         .length = 0,
                         .status = wc.status == IBV_WC_SUCCESS ? hca::CompletionStatus::kSuccess : status_of(wc.status),
                         .opcode = entry.opcode,
                         .solicited = false};
  if (wc.status != IBV_WC_SUCCESS) return result;
  result.length = entry.is_receive ? wc.byte_len : entry.length;
  if (!entry.is_receive) return result;
  result.opcode = opcode_of_receive(wc);
  if (result.opcode == hca::CompletionOpcode::kRecvWriteImmediate) result.immediate = be32toh(wc.imm_data);
  if (result.opcode == hca::CompletionOpcode::kRecvInvalidate) result.invalidated = wc.invalidated_rkey;
  return result;
}

bool has_failed(hca::CompletionStatus status) {
  return status != hca::CompletionStatus::kSuccess && status != hca::CompletionStatus::kFlushed;
}

}  // namespace

QueuePair* CompletionReader::queue_pair_of(const WorkEntry& entry, const ibv_wc& wc) const {
  if (entry.queue_pair != nullptr) return entry.queue_pair;
  const auto found = queue_pairs_.find(wc.qp_num);
  base::check(found != queue_pairs_.end() || entry.shared != nullptr, "only a shared receive outlives its queue pair",
              wc.qp_num, entry.position);
  return found == queue_pairs_.end() ? nullptr : found->second;
}

bool CompletionReader::read(const ibv_wc& wc, const QueuePair* dying, Result& out) {
  base::require_lock(locks::kCompletionQueue);
  WorkEntry& entry = entry_of(wc);
  QueuePair* const queue_pair = queue_pair_of(entry, wc);
  hca::Completion& completion = out.completion;
  completion = completion_of(wc, entry, queue_pair == nullptr ? 0 : queue_pair->context());
  if (entry.window != nullptr) completion.qp_context = entry.window->context();
  // siw completes with this status what a disconnect of ours has cut off: it was flushed.
  const bool is_cut = wc.status == IBV_WC_LOC_QP_OP_ERR && queue_pair != nullptr && queue_pair->failures().was_cut();
  if (is_cut) completion.status = hca::CompletionStatus::kFlushed;
  // Copied, because on_complete() below gives the entry back to the posters, who overwrite it.
  const std::uint32_t flags = entry.flags;
  const bool is_receive = entry.is_receive;
  const bool is_invalidation = entry.is_invalidation();
  // Nobody gets completions of a queue pair that is being destroyed or reset; their entries are settled all the same.
  const auto is_dead = [&] { return queue_pair == nullptr || queue_pair == dying || queue_pair->is_discarding(); };
  if (has_failed(completion.status) && !is_dead()) queue_pair->report_failed_work(entry, wc, completion.status);
  if (entry.shared != nullptr) {
    completion.srq_account = entry.shared->on_taken(entry);
  } else {
    queue_pair->on_complete(entry, completion.status);
  }
  if (is_dead()) {
    SharedReceiveQueue::settle({&completion, 1});
    return false;
  }
  if (completion.status != hca::CompletionStatus::kSuccess) {
    queue_pair->failures().on_work_failed(completion.status, is_receive);
  } else if (is_receive) {
    queue_pair->on_received(completion);
  }
  out.is_quiet = (flags & hca::kQuiet) != 0;
  out.queue_pair = queue_pair;
  if (is_invalidation) return false;
  // Without kSignaled a request tells of its failure alone.
  return is_receive || (flags & hca::kSignaled) != 0 || completion.status != hca::CompletionStatus::kSuccess;
}

void CompletionReader::on_overflow() {
  base::require_lock(locks::kCompletionQueue);
  for (const auto& [number, queue_pair] : queue_pairs_) queue_pair->failures().on_overflow();
}

}  // namespace softdat::verbs
