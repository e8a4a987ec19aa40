// SPDX-License-Identifier: BSD-2-Clause
// The responses of the peer to reads and atomics of this side. RFC 5040 section 5.2: they come in the order of the
// requests, and only for them. REQUIRES of place_response() and take_response(): the queue pair's lane, and the baton.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "simnic/fault.h"
#include "simnic/scatter_gather.h"
#include "simnic/sent_requests.h"
#include "transport/channel.h"

namespace softdat::simnic {

// Where the peer is told to send the response to a read. The place is found by order and not by this, so that a read
// may be scattered; the response only has to bring it back unchanged.
inline hca::Segment sink_of(std::span<const hca::Segment> segments) {
  return segments.empty() ? hca::Segment{} : segments.front();
}

// Tells one atomic's response from another's.
inline std::uint32_t request_id(std::uint64_t number) {
  return static_cast<std::uint32_t>(number);
}

// Where the bytes of a read response go.
Verdict place_response(SentRequests& sent, const MemoryView& memory, const transport::Arrival& arrival,
                       transport::SliceList& out);
// A response is here whole: stores what an atomic found, and completes the request.
std::optional<Fault> take_response(SentRequests& sent, const MemoryView& memory, const transport::Message& message);

}  // namespace softdat::simnic
