// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/incoming_reads.h"

#include "simnic/atomic_operation.h"

namespace softdat::simnic {
namespace {

using hca::CompletionOpcode;
using transport::Opcode;

constexpr std::uint32_t kSizeOfAtomic = sizeof(std::uint64_t);

CompletionOpcode operation_of(const transport::Message& request) {
  if (request.opcode == Opcode::kReadRequest) return CompletionOpcode::kRead;
  return request.atomic_code == transport::kFetchAddCode ? CompletionOpcode::kFetchAdd : CompletionOpcode::kCompareSwap;
}

}  // namespace

std::optional<Fault> IncomingReads::take_in(const transport::Message& request) {
  const CompletionOpcode operation = operation_of(request);
  // RFC 5040 section 6.3: requests beyond our IRD find no buffer on their queue.
  if (reads_.full()) {
    if (hca::Failure* noted = failure_.note(operation, hca::Rule::kTooManyReads)) noted->room = reads_.capacity();
    return Fault{.code = kNoBuffer, .is_protocol_breach = true};
  }
  const bool is_atomic = request.opcode == Opcode::kAtomicRequest;
  std::uint64_t original = 0;
  if (is_atomic) {
    const auto found = carry_out(request, operation);
    if (!found) return found.reason();
    // Carried out when it arrives; the response waits behind earlier reads (docs/WIRE.md, "Immediate data and
    // atomics").
    original = found.value();
  } else {
    const AccessError fault =
        // The key is checked now, so that a wrong one is reported at once, and again when the response is sent.
        memory_.check(request.source_stag, request.source_offset, request.length, hca::kRemoteRead);
    if (fault != AccessError::kNone) {
      failure_.note_access(operation, request.source_stag, request.source_offset, request.length, hca::kRemoteRead);
      return Fault{.code = read_refusal(fault)};
    }
  }
  reads_.push_back({.number = acks_.count_read(),
                    .source_offset = request.source_offset,
                    .sink_offset = is_atomic ? original : request.offset,
                    .source_stag = request.source_stag,
                    .sink_stag = is_atomic ? request.request_id : request.stag,
                    .length = request.length,
                    .is_atomic = is_atomic});
  ++taken_in_;
  return std::nullopt;
}

base::Result<std::uint64_t, Fault> IncomingReads::carry_out(const transport::Message& request,
                                                            CompletionOpcode operation) {
  if (!is_known_atomic(request.atomic_code)) return refuse({.code = kUnexpectedOpcode, .is_protocol_breach = true});
  std::byte* target = nullptr;
  AccessError fault =
      memory_.locate(request.source_stag, request.source_offset, kSizeOfAtomic, hca::kRemoteAtomic, target);
  if (fault == AccessError::kNone) {
    // An atomic instruction needs an aligned word. The error is that of docs/WIRE.md, "Breaches".
    if (reinterpret_cast<std::uintptr_t>(target) % kSizeOfAtomic != 0) {
      hca::Failure* const noted = failure_.note(operation, hca::Rule::kMisaligned);
      if (noted != nullptr) noted->address = request.source_offset;
      return refuse({.code = kBadAtomic});
    }
    if (const auto original = carry_out_atomic(request, target)) return *original;
    fault = AccessError::kBadKey;  // the memory is not there
  }
  failure_.note_access(operation, request.source_stag, request.source_offset, kSizeOfAtomic, hca::kRemoteAtomic);
  return refuse({.code = read_refusal(fault)});
}

transport::Message IncomingReads::next() const {
  const Read& read = reads_.front();
  if (read.is_atomic) {
    return {.opcode = Opcode::kAtomicResponse, .request_id = read.sink_stag, .operand = read.sink_offset};
  }
  return {.opcode = Opcode::kReadResponse, .length = read.length, .stag = read.sink_stag, .offset = read.sink_offset};
}

AccessError IncomingReads::check_payload() const {
  const Read& read = reads_.front();
  if (read.is_atomic) return AccessError::kNone;  // it has been carried out
  return memory_.check(read.source_stag, read.source_offset, read.length, hca::kRemoteRead);
}

bool IncomingReads::gather(std::uint64_t offset, std::size_t length, transport::SliceList& out) {
  const Read& read = reads_.front();
  std::byte* from = nullptr;
  // Looked up for each piece: the key may be revoked while the response is half sent.
  const AccessError fault = memory_.locate(read.source_stag, read.source_offset, read.length, hca::kRemoteRead, from);
  return fault == AccessError::kNone && out.add(from + offset, length);
}

// A response tells the peer as much as an ack of everything up to its request.
void IncomingReads::on_taken() {
  acks_.on_acknowledged(reads_.front().number + 1);
  reads_.pop_front();
}

void IncomingReads::note_failure() {
  if (reads_.empty()) return;
  const Read& read = reads_.front();
  failure_.note_access(CompletionOpcode::kRead, read.source_stag, read.source_offset, read.length, hca::kRemoteRead);
}

void IncomingReads::drop_all() {
  note_failure();
  reads_.clear();
}

}  // namespace softdat::simnic
