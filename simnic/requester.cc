// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/requester.h"

#include <algorithm>

#include "hca/request_rules.h"
#include "simnic/atomic_operation.h"
#include "simnic/read_response.h"

namespace softdat::simnic {
namespace {

using hca::CompletionStatus;
using hca::SendOpcode;
using transport::Opcode;

// Needs no feature of the peer, and waits for no earlier read.
bool needs_nothing(const SendEntry& entry) {
  return (entry.opcode == SendOpcode::kSend || entry.opcode == SendOpcode::kWrite) && (entry.flags & hca::kFence) == 0;
}

// A peer that cannot, or answers no reads at all, will not learn to.
bool can_peer_do(SendOpcode opcode, transport::Features features, std::uint32_t ord) {
  if (hca::awaits_response(opcode) && ord == 0) return false;
  if (hca::is_atomic(opcode)) return (features & transport::kAtomics) != 0;
  return opcode != SendOpcode::kWriteWithImmediate || (features & transport::kImmediates) != 0;
}

// `is_write_taken`: of a write with immediate data, which is next.
void write_message(const WorkQueue<SendEntry>& queue, std::uint64_t number, bool is_write_taken,
                   transport::Message& message) {
  const SendEntry& entry = queue.at(number);
  const auto is_solicited = [&] { return (entry.flags & hca::kSolicited) != 0; };
  message.begin(send_opcode(entry.flags), entry.length);
  switch (entry.opcode) {
    case SendOpcode::kSend:
      break;
    case SendOpcode::kSendInvalidate:
      message.opcode = is_solicited() ? Opcode::kSendSolicitedInvalidate : Opcode::kSendInvalidate;
      message.stag = entry.rkey;
      break;
    case SendOpcode::kWriteWithImmediate:
      if (is_write_taken) {
        message.begin(is_solicited() ? Opcode::kImmediateSolicited : Opcode::kImmediate, 0);
        message.operand = entry.operand;
        break;
      }
      [[fallthrough]];
    case SendOpcode::kWrite:
      message.opcode = Opcode::kWrite;
      // The key of an empty write is not checked. It must not be 0, because STag 0 announces a note on the wire.
      message.stag = entry.length == 0 ? std::max(entry.rkey, 1u) : entry.rkey;
      message.offset = entry.remote_address;
      break;
    case SendOpcode::kRead:
    case SendOpcode::kReadToWindow: {
      const hca::Segment sink = sink_of(queue.segments(number));
      message.opcode = Opcode::kReadRequest;
      message.stag = sink.lkey;
      message.offset = sink.address;
      message.source_stag = entry.rkey;
      message.source_offset = entry.remote_address;
      break;
    }
    case SendOpcode::kBind:
      break;  // carry_out_binds() has left none here
    case SendOpcode::kFetchAdd:
    case SendOpcode::kCompareSwap:
      message = make_atomic(entry.opcode, entry.operand, entry.compare);
      message.source_stag = entry.rkey;
      message.source_offset = entry.remote_address;
      message.request_id = request_id(number);
      break;
  }
}

}  // namespace

void Requester::begin(transport::Features features, std::uint32_t ord) {
  features_ = features;
  ord_ = ord;
  limit_ = kNoLimit;
  stalled_ = CompletionStatus::kSuccess;
  sent_.begin((features & transport::kNotes) != 0);
}

bool Requester::next(transport::Message& message) {
  if (is_stalled() || sent_.rewound_to()) return false;
  // One look at what is posted: more may come at any moment, and has its turn then.
  const std::uint64_t end = std::min(queue().posted(), limit_);
  if (sent_.current() >= end) return false;
  if (queue().at(sent_.current()).opcode == SendOpcode::kBind && !carry_out_binds(end)) return false;
  const std::uint64_t number = sent_.current();
  const SendEntry& entry = queue().at(number);
  if (!needs_nothing(entry) && !may_follow(entry)) return false;
  if (!is_payload_valid()) stalled_ = CompletionStatus::kLocalProtection;
  if (is_stalled()) return false;
  write_message(queue(), number, sent_.is_write_taken(), message);
  return true;
}

bool Requester::next_short_send(transport::ShortSend& short_send) const {
  if (sent_.current() >= queue().posted()) return false;
  const SendEntry& entry = queue().at(sent_.current());
  const bool is_short = entry.opcode == SendOpcode::kSend && (entry.flags & (hca::kFence | kPlaced)) == 0;
  // If a key has been removed since the post, next() looks the segments up anew.
  if (!is_short || !still_holds(memory_, entry.found)) return false;
  short_send.opcode = send_opcode(entry.flags);
  short_send.payload = {entry.found.place, entry.length};
  return true;
}

// Whether its turn has come, as far as the peer and what is under way are concerned.
bool Requester::may_follow(const SendEntry& entry) {
  if (!can_peer_do(entry.opcode, features_, ord_)) {
    stalled_ = CompletionStatus::kRemoteOperation;
    return false;
  }
  // DAT's barrier fence: not before all earlier reads have been answered. The immediate data of a write that has gone
  // out may not wait.
  if (!sent_.is_write_taken() && (entry.flags & hca::kFence) != 0 && sent_.reads_pending() > 0) return false;
  return !hca::awaits_response(entry.opcode) || sent_.reads_pending() < ord_;
}

// One after the other, as far as they come next. True when a message follows before `end`; not when a
// bind has to wait, or has failed.
bool Requester::carry_out_binds(std::uint64_t end) {
  const auto is_bind_next = [&] {
    return sent_.current() < end && queue().at(sent_.current()).opcode == SendOpcode::kBind;
  };
  const std::uint64_t first = sent_.current();
  for (; is_bind_next(); sent_.pass_bind()) {
    const SendEntry& bind = queue().at(sent_.current());
    if ((bind.flags & hca::kFence) != 0 && sent_.reads_pending() > 0) break;
    if (!completions().binds().carry_out(bind, sent_.current())) {
      stalled_ = CompletionStatus::kBindFailed;
      break;
    }
  }
  const bool has_message = sent_.current() < end && !is_bind_next();
  if (sent_.current() != first) sent_.complete_done();
  return has_message;
}

bool Requester::is_payload_valid() const {
  const SendEntry& entry = queue().at(sent_.current());
  // The last lookup still holds, or no payload is left to read: it has been sent, or put into the peer's receive.
  if (still_holds(memory_, entry.found) || sent_.is_write_taken() || (entry.flags & kPlaced) != 0) return true;
  return check_segments(memory_, queue().segments(sent_.current()), local_rights(entry.opcode)) == AccessError::kNone;
}

bool Requester::gather(std::uint64_t offset, std::size_t length, transport::SliceList& out) {
  const SendEntry& entry = queue().at(sent_.current());
  const auto segments = queue().segments(sent_.current());
  return resolve(memory_, entry.found, segments, kLocalRead, offset, length, out) == AccessError::kNone;
}

// A request that could not be sent is found again when it is its turn again.
bool Requester::on_resend(std::uint64_t from, bool is_partly_taken) {
  if (!sent_.on_resend(from, is_partly_taken)) return false;
  stalled_ = CompletionStatus::kSuccess;
  return true;
}

std::optional<Fault> Requester::find_fault() const {
  // Earlier requests complete first, so completions stay in the order of posts.
  if (!is_stalled() || queue().completed() != sent_.current()) return std::nullopt;
  return Fault{.code = kLocalCatastrophe, .blamed_send = stalled_};
}

bool Requester::is_oldest_read() const {
  return !queue().is_empty() && hca::awaits_response(queue().at(queue().completed()).opcode);
}

}  // namespace softdat::simnic
