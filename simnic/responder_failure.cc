// SPDX-License-Identifier: BSD-2-Clause
// Why the responder refuses a request of the peer's, for people.
#include <new>

#include "simnic/responder.h"

namespace softdat::simnic {

using hca::CompletionOpcode;
using hca::CompletionStatus;
using hca::Rule;

// The first of a connection is the one that ends it.
hca::Failure* Responder::note_failure(CompletionOpcode operation, Rule rule) {
  if (failure_ != nullptr) return nullptr;
  failure_.reset(new (std::nothrow) hca::Failure);
  if (failure_ == nullptr) return nullptr;
  failure_->actor = hca::Actor::kPeersRequest;
  failure_->operation = operation;
  failure_->rule = rule;
  return failure_.get();
}

void Responder::note_access(CompletionOpcode operation, std::uint32_t key, std::uint64_t address, std::uint64_t length,
                            hca::AccessMask right) {
  hca::Failure* const noted = note_failure(operation, Rule::kUnknown);
  if (noted != nullptr) memory_.table.explain(key, address, length, right, memory_.who, *noted);
}

void Responder::note_length(const RecvEntry& entry, std::uint64_t number, std::uint64_t length) {
  hca::Failure* const noted = note_failure(CompletionOpcode::kRecv, Rule::kReceiveTooShort);
  if (noted == nullptr) return;
  noted->actor = hca::Actor::kOurReceive;
  noted->status = CompletionStatus::kLocalLength;
  noted->wr_id = entry.wr_id;
  noted->posted = queue_.place(number);
  noted->length = length;
  noted->room = entry.length;
}

void Responder::note_receive_memory() {
  hca::Failure* const noted = note_failure(CompletionOpcode::kRecv, Rule::kUnknown);
  if (noted == nullptr || queue_.is_empty()) return;
  const std::uint64_t number = queue_.completed();
  noted->actor = hca::Actor::kOurReceive;
  noted->status = CompletionStatus::kLocalProtection;
  noted->wr_id = queue_.at(number).wr_id;
  noted->posted = queue_.place(number);
  noted->is_local = true;
  explain_segments(recv_memory_, queue_.segments(number), hca::kLocalWrite, *noted);
}

void Responder::note_lack(std::uint64_t length) {
  hca::Failure* const noted = note_failure(CompletionOpcode::kSend, Rule::kNoReceive);
  if (noted == nullptr) return;
  noted->length = length;
  noted->is_shared = source_.shared != nullptr;
}

void Responder::note_response_failure() {
  if (reads_.empty()) return;
  const IncomingRead& read = reads_.front();
  note_access(CompletionOpcode::kRead, read.source_stag, read.source_offset, read.length, hca::kRemoteRead);
}

}  // namespace softdat::simnic
