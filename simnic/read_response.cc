// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/read_response.h"

#include "base/ordered_copy.h"
#include "base/probe.h"
#include "hca/memory_observer.h"
#include "hca/request_rules.h"

namespace softdat::simnic {
namespace {

Fault bad_response(const transport::TerminateCode& code) {
  return {.code = code, .blamed_send = hca::CompletionStatus::kBadResponse, .is_protocol_breach = true};
}

// Stores what the peer's eight bytes were before, in our own byte order. False: the memory is not ours to write, or
// faults.
bool store_original(const MemoryView& memory, std::span<const hca::Segment> segments, std::uint64_t original) {
  transport::SliceList slices;
  if (resolve(memory, segments, hca::kLocalWrite, 0, sizeof original, slices) != AccessError::kNone) return false;
  const auto* from = reinterpret_cast<const std::byte*>(&original);
  hca::MemoryObserver* const observer = hca::memory_observer.load(std::memory_order_relaxed);
  for (const transport::Slice& slice : slices.slices()) {
    // The carrier does not see this store (simnic/observed_carrier.h).
    if (observer != nullptr) observer->before_store(hca::StoreOrigin::kCompletion, {slice.data, slice.length});
    if (!base::copy_ordered(slice.data, from, slice.length)) return false;
    from += slice.length;
  }
  return true;
}

}  // namespace

// RFC 5040 section 5.2: responses come in the order of the requests, so only the oldest outstanding read can be
// answered. Keys and offsets are those that the request named; the peer may not choose others.
Verdict place_response(SentRequests& sent, const MemoryView& memory, const transport::Arrival& arrival,
                       transport::SliceList& out) {
  const auto number = sent.find_oldest_read();
  if (!number) return refuse(bad_response(kTaggedInvalidStag));
  const WorkQueue<SendEntry>& queue = sent.completions().queue();
  const SendEntry& entry = queue.at(*number);
  // An atomic is answered by an Atomic Response, which is untagged.
  if (hca::is_atomic(entry.opcode)) return refuse(bad_response(kTaggedInvalidStag));
  const auto segments = queue.segments(*number);
  const hca::Segment sink = sink_of(segments);
  if (arrival.length > 0 && arrival.stag != sink.lkey) return refuse(bad_response(kTaggedInvalidStag));
  if (arrival.length > entry.length || arrival.message_offset > entry.length - arrival.length) {
    return refuse(bad_response(kTaggedOutOfBounds));
  }
  if (arrival.length > 0 && arrival.offset != sink.address + arrival.message_offset) {
    return refuse(bad_response(kTaggedOutOfBounds));
  }
  if (arrival.first) sent.on_response_begun(*number);
  // The region may have been freed since the post. That is our own consumer's fault, not the peer's.
  const hca::AccessMask rights = local_rights(entry.opcode);
  if (resolve(memory, entry.found, segments, rights, arrival.message_offset, arrival.length, out) !=
      AccessError::kNone) {
    return refuse(local_fault());
  }
  return transport::Placement::kPlace;
}

// The whole response is there. It must be the one that was asked for, and as long.
std::optional<Fault> take_response(SentRequests& sent, const MemoryView& memory, const transport::Message& message) {
  const auto number = sent.find_oldest_read();
  if (!number) return bad_response(kUnexpectedOpcode);
  const WorkQueue<SendEntry>& queue = sent.completions().queue();
  const SendEntry& entry = queue.at(*number);
  const bool answers_atomic = message.opcode == transport::Opcode::kAtomicResponse;
  if (answers_atomic != hca::is_atomic(entry.opcode)) return bad_response(kUnexpectedOpcode);
  if (answers_atomic && message.request_id != request_id(*number)) return bad_response(kUnexpectedOpcode);
  if (!answers_atomic && message.length != entry.length) return bad_response(kTaggedOutOfBounds);
  SOFTDAT_PROBE(place, sent.completions().feed().context(), entry.opcode, entry.length);
  sent.on_response_begun(*number);
  if (answers_atomic && !store_original(memory, queue.segments(*number), message.operand)) return local_fault();
  sent.on_answered(*number);
  return std::nullopt;
}

}  // namespace softdat::simnic
