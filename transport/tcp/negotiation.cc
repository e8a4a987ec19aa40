// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/negotiation.h"

#include <algorithm>

#include "base/assert.h"

namespace softdat::transport::tcp {
namespace {

// A peer of revision 1 says nothing about reads; one at a time is what every responder bears.
constexpr std::uint32_t kReadsWithoutWord = 1;

std::uint16_t to_reads(std::uint32_t reads) {
  return static_cast<std::uint16_t>(std::min<std::uint32_t>(reads, kMaxReads));
}

std::uint32_t from_reads(std::uint16_t reads) {
  return reads == kUnspecifiedReads ? kReadsWithoutWord : reads;
}

// The peer's offer as its frame tells it; the block only where the peer is one of ours.
Offer offer_of(const MpaFrame& frame, const std::optional<PrivateBlock>& block) {
  Offer offer = block ? block->offer : Offer{};
  if (!block) {
    offer.private_data = frame.private_data;
    offer.ird = offer.ord = kReadsWithoutWord;
  }
  if (frame.enhanced) {
    offer.ird = from_reads(frame.enhanced->ird);
    offer.ord = from_reads(frame.enhanced->ord);
  }
  return offer;
}

Refusal refusal_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kNoListener:
      return Refusal::kBusy;
    case Verdict::kNoService:
      return Refusal::kNoListener;
    default:
      return Refusal::kByConsumer;
  }
}

bool has_block(const MpaFrame& frame) {
  return decode_private_data(frame.private_data).has_value();
}

}  // namespace

// Markers are never asked for. Peer-to-peer mode offers an empty Write alone as the first FPDU.
MpaFrame make_request(const TcpOptions& options, const Offer& offer) {
  base::check(options.mpa_revision == 1 || options.mpa_revision == 2, "MPA has revisions 1 and 2",
              options.mpa_revision);
  MpaFrame frame{.kind = MpaFrameKind::kRequest, .wants_crc = options.crc, .revision = options.mpa_revision};
  if (options.mpa_revision >= 2) {
    frame.enhanced = MpaEnhanced{.is_peer_to_peer = options.is_peer_to_peer,
                                 .rtr = static_cast<std::uint8_t>(options.is_peer_to_peer ? kRtrWrite : 0),
                                 .ird = to_reads(offer.ird),
                                 .ord = to_reads(offer.ord)};
  }
  frame.private_data = encode_private_data({.offer = offer});
  return frame;
}

ReplyReading read_reply(const MpaFrame& reply, const MpaFrame& request, const Offer& offer, bool is_direct) {
  using Meaning = ReplyReading::Meaning;
  const auto block = decode_private_data(reply.private_data);
  ReplyReading reading{.peer = offer_of(reply, block)};
  const bool is_elsewhere = block ? block->verdict == Verdict::kNoService : !is_direct;
  if (is_elsewhere) {
    reading.meaning = Meaning::kWrongService;
    return reading;
  }
  if (reply.is_rejected) {
    reading.refusal = block ? refusal_of(block->verdict) : Refusal::kByConsumer;
    return reading;
  }
  // Markers cannot be refused once the reply asks for them, so the connection is (RFC 5044 section 7.1). The default
  // meaning is a refusal.
  if (reply.wants_markers || reply.revision > request.revision) return reading;
  reading.agreement = {.is_own = block.has_value(),
                       // RFC 5044 section 7.1: CRC is used if either side wants it.
                       .has_crc = reply.wants_crc || request.wants_crc,
                       .features = block ? block->offer.features & offer.features : 0};
  reading.meaning = Meaning::kYes;
  // Both must have said so; else the connection begins as RFC 5044 has it, and the responder just waits.
  const bool is_peer_to_peer =
      request.enhanced && request.enhanced->is_peer_to_peer && reply.enhanced && reply.enhanced->is_peer_to_peer;
  if (is_peer_to_peer) {
    reading.agreement.rtr = reply.enhanced->rtr & kRtrWrite;
    if (reading.agreement.rtr == 0) reading.meaning = Meaning::kNoRtr;
  }
  return reading;
}

RequestReading read_request(const MpaFrame& request, std::uint64_t service_id, std::uint16_t port) {
  const auto block = decode_private_data(request.private_data);
  RequestReading reading{.is_own = block.has_value(), .peer = offer_of(request, block)};
  if (!block) reading.peer.service_id = port;
  if (reading.peer.service_id != service_id) reading.verdict = Verdict::kNoService;
  // RFC 5044 lets a responder without markers refuse whoever insists on them.
  if (request.wants_markers || request.is_rejected) reading.verdict = Verdict::kNoListener;
  return reading;
}

Agreement agree(const TcpOptions& options, const MpaFrame& request, bool is_own, Features features) {
  Agreement agreement{.is_own = is_own, .has_crc = request.wants_crc || options.crc, .features = features};
  if (request.enhanced && request.enhanced->is_peer_to_peer) {
    // The responder chooses the first FPDU (RFC 6581): an empty Write, unless the initiator offers a Read and no Write.
    const auto offered = request.enhanced->rtr;
    agreement.rtr = (offered & kRtrWrite) == 0 && (offered & kRtrRead) != 0 ? kRtrRead : kRtrWrite;
  }
  return agreement;
}

// In the revision of the request: an initiator of revision 1 takes no other.
MpaFrame make_reply(const Agreement& agreement, const MpaFrame& request, const Offer& offer) {
  base::check(agreement.rtr == 0 || request.enhanced, "peer-to-peer mode was asked for");
  SOFTDAT_DEBUG_CHECK(agreement.has_crc || !request.wants_crc, "a CRC that one side wants is agreed on");
  MpaFrame frame{.kind = MpaFrameKind::kReply, .wants_crc = agreement.has_crc, .revision = request.revision};
  if (request.enhanced) {
    frame.enhanced = MpaEnhanced{.is_peer_to_peer = agreement.rtr != 0,
                                 .rtr = agreement.rtr,
                                 .ird = to_reads(offer.ird),
                                 .ord = to_reads(offer.ord)};
  }
  Offer answer = offer;
  answer.features = agreement.features;
  frame.private_data = agreement.is_own ? encode_private_data({.offer = answer}) : offer.private_data;
  return frame;
}

MpaFrame make_refusal(const MpaFrame& request, Verdict verdict, const Offer& offer) {
  MpaFrame frame{.kind = MpaFrameKind::kReply, .is_rejected = true, .revision = request.revision};
  frame.wants_crc = request.wants_crc;
  if (request.enhanced) frame.enhanced = MpaEnhanced{};
  frame.private_data =
      has_block(request) ? encode_private_data({.verdict = verdict, .offer = offer}) : offer.private_data;
  return frame;
}

}  // namespace softdat::transport::tcp
