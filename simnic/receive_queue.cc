// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/receive_queue.h"

namespace softdat::simnic {

using hca::CompletionOpcode;
using hca::CompletionStatus;
using hca::Rule;

bool ReceiveQueue::has_receive() {
  if (!queue().is_empty()) return true;
  if (completions_.shared() != nullptr) return completions_.shared()->take(queue(), source_.starving);
  return !source_.posts.starve(queue());
}

void ReceiveQueue::sate() {
  if (completions_.shared() != nullptr) return completions_.shared()->sate(source_.starving);
  source_.posts.sate();
}

Verdict ReceiveQueue::place(const transport::Arrival& arrival, transport::SliceList& out,
                            ResponderFailure& failure) const {
  const std::uint64_t number = queue().completed();
  const RecvEntry& entry = queue().at(number);
  // RFC 5041 section 7.1: the message must fit.
  if (arrival.length > entry.length || arrival.message_offset > entry.length - arrival.length) {
    note_length(arrival.message_offset + arrival.length, failure);
    return refuse({.code = kMessageTooLong, .blamed_recv = CompletionStatus::kLocalLength});
  }
  const AccessError fault = resolve(memory_, entry.found, queue().segments(number), hca::kLocalWrite,
                                    arrival.message_offset, arrival.length, out);
  if (fault == AccessError::kNone) return transport::Placement::kPlace;
  note_memory(failure);
  return refuse(receive_fault());
}

// Null: a failure was noted before, or there is no memory for the words.
hca::Failure* ReceiveQueue::note_oldest(Rule rule, CompletionStatus status, ResponderFailure& failure) const {
  hca::Failure* const noted = failure.note(CompletionOpcode::kRecv, rule);
  if (noted == nullptr || queue().is_empty()) return nullptr;
  const std::uint64_t number = queue().completed();
  noted->actor = hca::Actor::kOurReceive;
  noted->status = status;
  noted->wr_id = queue().at(number).wr_id;
  noted->posted = queue().place(number);
  return noted;
}

void ReceiveQueue::note_length(std::uint64_t length, ResponderFailure& failure) const {
  hca::Failure* const noted = note_oldest(Rule::kReceiveTooShort, CompletionStatus::kLocalLength, failure);
  if (noted == nullptr) return;
  noted->length = length;
  noted->room = queue().at(queue().completed()).length;
}

void ReceiveQueue::note_memory(ResponderFailure& failure) const {
  hca::Failure* const noted = note_oldest(Rule::kUnknown, CompletionStatus::kLocalProtection, failure);
  if (noted == nullptr) return;
  noted->is_local = true;
  explain_segments(memory_, queue().segments(queue().completed()), hca::kLocalWrite, *noted);
}

void ReceiveQueue::note_lack(std::uint64_t length, ResponderFailure& failure) const {
  hca::Failure* const noted = failure.note(CompletionOpcode::kSend, Rule::kNoReceive);
  if (noted == nullptr) return;
  noted->length = length;
  noted->is_shared = completions_.shared() != nullptr;
}

}  // namespace softdat::simnic
