// SPDX-License-Identifier: BSD-2-Clause
// MPA request and reply frames, the block in their private data, and what both sides conclude: total, and what is
// decoded encodes to the same meaning.
#include "tests/fuzz/fuzz.h"
#include "transport/tcp/mpa_frame.h"
#include "transport/tcp/negotiation.h"
#include "transport/tcp/private_block.h"

namespace softdat::fuzz {
namespace {

using namespace softdat::transport;
using namespace softdat::transport::tcp;

void conclude(const MpaFrame& frame) {
  const Offer offer{.service_id = 7174, .features = kNotes, .ird = 4, .ord = 4};
  if (frame.kind == MpaFrameKind::kReply) {
    const MpaFrame request = make_request({}, offer);
    const ReplyReading reading = read_reply(frame, request, offer, true);
    expect((reading.agreement.features & ~offer.features) == 0, "no feature is agreed on that was not offered");
    return;
  }
  const RequestReading reading = read_request(frame, 7174, 7174);
  const Agreement agreement = agree({}, frame, reading.is_own, reading.peer.features & offer.features);
  const auto reply = encode_mpa_frame(make_reply(agreement, frame, offer));
  expect(decode_mpa_frame(MpaFrameKind::kReply, reply).ok(), "a reply to a valid request is valid");
  const auto refusal = encode_mpa_frame(make_refusal(frame, Verdict::kNoListener, {}));
  expect(decode_mpa_frame(MpaFrameKind::kReply, refusal).ok(), "a refusal of a valid request is valid");
}

}  // namespace

void run_input(Input bytes) {
  for (const MpaFrameKind kind : {MpaFrameKind::kRequest, MpaFrameKind::kReply}) {
    if (bytes.size() >= kMpaHeaderSize) {
      const auto length = decode_mpa_length(kind, bytes.first(kMpaHeaderSize));
      expect(!length.ok() || length.value() <= kMaxMpaPrivateData, "no more private data is announced than allowed");
    }
    const auto frame = decode_mpa_frame(kind, bytes);
    if (!frame.ok()) continue;
    const auto again = decode_mpa_frame(kind, encode_mpa_frame(frame.value()));
    expect(again.ok() && again.value() == frame.value(), "decode(encode(x)) is x");
    conclude(frame.value());
  }
}

}  // namespace softdat::fuzz
