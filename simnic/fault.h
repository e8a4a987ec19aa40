// SPDX-License-Identifier: BSD-2-Clause
// Why a connection has to end: what the peer is told, and what our own request completes with.
#pragma once

#include "base/result.h"
#include "hca/result.h"
#include "hca/types.h"
#include "simnic/memory_table.h"
#include "transport/channel.h"

namespace softdat::simnic {

// Too large to be handed back in registers, for a reason: most often there is none, and a few bytes that are put
// together for that are waited for longer than a look at the one that says so.
struct alignas(16) Fault {
  transport::TerminateCode code{};
  // What the oldest request of each queue completes with; kFlushed: it is not to blame.
  hca::CompletionStatus blamed_send = hca::CompletionStatus::kFlushed;
  hca::CompletionStatus blamed_recv = hca::CompletionStatus::kFlushed;
  // The peer broke the rules themselves, not merely a right: nothing more is exchanged with it.
  bool is_protocol_breach = false;
};

// Where a message's bytes go, or why they may not.
using Verdict = base::Result<transport::Placement, Fault>;

inline base::Failure<Fault> refuse(const Fault& fault) {
  return {fault};
}

// The numbers of RFC 5040 section 4.8 and RFC 5041 section 8.2 that we send.
inline constexpr transport::TerminateCode kLocalCatastrophe{0, 0, 0x00};  // our own trouble; no request of the peer's
inline constexpr transport::TerminateCode kCannotCarryOut{0, 2, 0x07};  // a request of the peer's, for reasons of ours
inline constexpr transport::TerminateCode kUnexpectedOpcode{0, 2, 0x06};
inline constexpr transport::TerminateCode kBadAtomic{0, 2, 0xff};  // unspecific: the target is not aligned
inline constexpr transport::TerminateCode kCannotInvalidate{0, 1, 0x09};
inline constexpr transport::TerminateCode kTaggedInvalidStag{1, 1, 0x00};
inline constexpr transport::TerminateCode kTaggedOutOfBounds{1, 1, 0x01};
inline constexpr transport::TerminateCode kNoBuffer{1, 2, 0x02};
inline constexpr transport::TerminateCode kMessageTooLong{1, 2, 0x05};

// The local memory of the oldest request is not ours to touch, or faults.
constexpr Fault local_fault() {
  return {.code = kLocalCatastrophe, .blamed_send = hca::CompletionStatus::kLocalProtection};
}
// The buffer of the oldest receive likewise.
constexpr Fault receive_fault() {
  return {.code = kCannotCarryOut, .blamed_recv = hca::CompletionStatus::kLocalProtection};
}

// A remote write that its key does not allow. Bad STag, bounds, stream and wrap are DDP's to find
// (RFC 5041 section 8.2); it has no number for a missing right, which is RDMAP's.
transport::TerminateCode write_refusal(AccessError fault);

// A remote read that its key does not allow (RFC 5040 section 4.8, remote protection error).
transport::TerminateCode read_refusal(AccessError fault);

// What our request completes with when the peer answered it with this. kFlushed: no request of ours
// is to blame.
hca::CompletionStatus status_of(const transport::TerminateCode& code);

// Whether the code says that a read request of ours was refused.
bool concerns_read(const transport::TerminateCode& code);

// What a post with such a local segment is answered.
hca::Error error_of(AccessError fault);

}  // namespace softdat::simnic
