// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/receive_queue.h"

namespace softdat::simnic {

using hca::CompletionOpcode;
using hca::CompletionStatus;
using hca::Rule;

// A post_recv pushes and then looks at is_starved_; we set it and then look at the queue: either we
// see the receive, or the poster rings.
bool ReceiveQueue::has_receive() {
  if (!queue_.is_empty()) return true;
  if (source_.shared != nullptr) return source_.shared->take(queue_, *source_.starving);
  is_starved_.store(true, std::memory_order_seq_cst);
  if (queue_.is_empty()) return false;
  is_starved_.store(false, std::memory_order_seq_cst);
  return true;
}

void ReceiveQueue::sate() {
  if (source_.shared != nullptr) source_.shared->sate(*source_.starving);
}

Verdict ReceiveQueue::place(const transport::Arrival& arrival, transport::SliceList& out,
                            ResponderFailure& failure) const {
  const std::uint64_t number = queue_.completed();
  const RecvEntry& entry = queue_.at(number);
  // RFC 5041 section 7.1: the message must fit.
  if (arrival.length > entry.length || arrival.message_offset > entry.length - arrival.length) {
    note_length(arrival.message_offset + arrival.length, failure);
    return refuse({.code = kMessageTooLong, .blamed_recv = CompletionStatus::kLocalLength});
  }
  const AccessError fault = resolve(memory_, entry.found, queue_.segments(number), hca::kLocalWrite,
                                    arrival.message_offset, arrival.length, out);
  if (fault == AccessError::kNone) return transport::Placement::kPlace;
  note_memory(failure);
  return refuse(receive_fault());
}

// Null: a failure was noted before, or there is no memory for the words.
hca::Failure* ReceiveQueue::note_oldest(Rule rule, CompletionStatus status, ResponderFailure& failure) const {
  hca::Failure* const noted = failure.note(CompletionOpcode::kRecv, rule);
  if (noted == nullptr || queue_.is_empty()) return nullptr;
  const std::uint64_t number = queue_.completed();
  noted->actor = hca::Actor::kOurReceive;
  noted->status = status;
  noted->wr_id = queue_.at(number).wr_id;
  noted->posted = queue_.place(number);
  return noted;
}

void ReceiveQueue::note_length(std::uint64_t length, ResponderFailure& failure) const {
  hca::Failure* const noted = note_oldest(Rule::kReceiveTooShort, CompletionStatus::kLocalLength, failure);
  if (noted == nullptr) return;
  noted->length = length;
  noted->room = queue_.at(queue_.completed()).length;
}

void ReceiveQueue::note_memory(ResponderFailure& failure) const {
  hca::Failure* const noted = note_oldest(Rule::kUnknown, CompletionStatus::kLocalProtection, failure);
  if (noted == nullptr) return;
  noted->is_local = true;
  explain_segments(memory_, queue_.segments(queue_.completed()), hca::kLocalWrite, *noted);
}

void ReceiveQueue::note_lack(std::uint64_t length, ResponderFailure& failure) const {
  hca::Failure* const noted = failure.note(CompletionOpcode::kSend, Rule::kNoReceive);
  if (noted == nullptr) return;
  noted->length = length;
  noted->is_shared = source_.shared != nullptr;
}

void ReceiveQueue::complete_oldest(CompletionStatus status, std::uint32_t length, bool is_solicited,
                                   CompletionOpcode opcode, std::uint32_t extra) {
  const RecvEntry& oldest = queue_.at(queue_.completed());
  const bool voids_key = opcode == CompletionOpcode::kRecvInvalidate;
  const hca::Completion completion{
      .wr_id = oldest.wr_id,
      .qp_context = 0,
      .length = length,
      .status = status,
      .opcode = opcode,
      .solicited = is_solicited,
      .invalidated = voids_key ? extra : 0,
      .srq_account = source_.shared == nullptr ? std::uint16_t{0} : source_.shared->account(),
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

void ReceiveQueue::flush(CompletionStatus blamed) {
  sate();
  // The oldest receive is the one that was to blame, the others are flushed.
  for (CompletionStatus status = blamed; !queue_.is_empty(); status = CompletionStatus::kFlushed) {
    complete_oldest(status, 0, false);
  }
}

void ReceiveQueue::discard() {
  // Receives of a shared queue are charged to its account until they complete.
  if (source_.shared != nullptr) return flush(CompletionStatus::kFlushed);
  while (!queue_.is_empty()) queue_.drop_oldest();
}

}  // namespace softdat::simnic
