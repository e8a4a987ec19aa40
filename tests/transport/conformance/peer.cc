// SPDX-License-Identifier: BSD-2-Clause
#include "tests/transport/conformance/peer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace softdat::transport::conformance {

Bytes to_bytes(std::string_view text) {
  Bytes bytes(text.size());
  if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

Bytes make_pattern(std::size_t length, std::uint64_t seed) {
  Bytes bytes(length);
  std::uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (std::size_t at = 0; at < length; at += sizeof state) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    std::memcpy(bytes.data() + at, &state, std::min(sizeof state, length - at));
  }
  return bytes;
}

bool Received::has(const Bytes& expected) const {
  return bytes.size() == expected.size() && std::memcmp(bytes.data(), expected.data(), bytes.size()) == 0;
}

std::string Received::text() const {
  std::string text(bytes.size(), '\0');
  if (!bytes.empty()) std::memcpy(text.data(), bytes.data(), bytes.size());
  return text;
}

void Peer::connect(Carrier& carrier, const Address& remote, std::uint64_t service_id) {
  offer.service_id = service_id;
  channel = carrier.connect(remote, offer, *this);
  EXPECT_FALSE(is_established) << "on_established from within connect()";
  EXPECT_TRUE(refusals.empty()) << "on_refused from within connect()";
}

bool Peer::accept(InboundRequest& request) {
  channel = request.accept(offer, *this);
  return channel != nullptr;
}

void Peer::queue(const Message& message, Bytes bytes) {
  waiting_.push_back({message, std::move(bytes)});
  if (waiting_.size() == 1) pump();
}

void Peer::queue_send(std::string_view text) {
  queue({.opcode = Opcode::kSend, .length = static_cast<std::uint32_t>(text.size())}, to_bytes(text));
}

void Peer::send_short(std::string_view text, std::optional<std::uint64_t> acked) {
  const Bytes bytes = to_bytes(text);
  if (is_drained() && channel->send_short({.opcode = Opcode::kSend, .payload = bytes, .acked = acked})) {
    return channel->flush();
  }
  if (acked) queue({.opcode = Opcode::kNote, .note = NoteKind::kAck, .note_value = *acked});
  queue_send(text);
}

void Peer::pump() {
  while (!waiting_.empty() && channel) {
    Waiting& next = waiting_.front();
    last_result = channel->send(next.message, next.bytes.empty() ? nullptr : this);
    if (last_result == SendResult::kBlocked) ++blocked_count;
    if (last_result != SendResult::kDone) break;
    waiting_.pop_front();
  }
  if (channel) channel->flush();
}

bool Peer::gather(std::uint64_t offset, std::size_t length, SliceList& out) {
  EXPECT_GT(length, 0u);
  if (offset >= revoke_from) return false;
  if (waiting_.empty()) return false;
  Bytes& bytes = waiting_.front().bytes;
  EXPECT_LE(offset + length, bytes.size()) << "asked past the message's end";
  length = std::min<std::size_t>(length, revoke_from - offset);
  add_slices(bytes.data() + offset, length, out);
  return true;
}

std::size_t Peer::add_slices(std::byte* data, std::size_t length, SliceList& out) const {
  std::size_t done = 0;
  for (std::size_t i = 0; i < max_slices && done < length; ++i) {
    const std::size_t part = std::min(max_slice, length - done);
    if (!out.add(data + done, part)) break;
    done += part;
  }
  return done;
}

Placement Peer::place(const Arrival& arrival, SliceList& out) {
  EXPECT_TRUE(is_established && !is_closed_);
  EXPECT_TRUE(out.empty());
  EXPECT_EQ(arrival.message_offset, position_) << "payload does not ascend without gaps";
  EXPECT_EQ(arrival.first, arrival.message_offset == 0);
  ++place_count;
  if (before_place) {
    const auto hook = before_place;  // it may destroy the channel, never this peer
    hook(arrival);
  }
  if (discards) {
    position_ += arrival.length;
    placed += arrival.length;
    return Placement::kDiscard;
  }
  if (place_at != nullptr) {
    out.add(place_at + arrival.message_offset, arrival.length);
    position_ += arrival.length;
    return Placement::kPlace;
  }
  incoming_.resize(arrival.message_offset + arrival.length);
  const std::size_t covered = add_slices(incoming_.data() + arrival.message_offset, arrival.length, out);
  position_ += covered;
  placed += covered;
  return Placement::kPlace;
}

void Peer::on_fault(const Arrival& arrival) {
  EXPECT_TRUE(place_at != nullptr);
  faults.push_back(arrival);
  position_ = arrival.message_offset;
  discards = true;
}

void Peer::on_message(const Message& message) {
  EXPECT_TRUE(is_established && !is_closed_);
  if (before_message) before_message();
  if (carries_payload(message.opcode)) {
    EXPECT_GT(place_count, 0) << "no place asked for";
    EXPECT_EQ(position_, message.length);
  } else {
    EXPECT_EQ(place_count, 0) << "a place asked for a message without payload";
  }
  messages.push_back({message, std::exchange(incoming_, {})});
  if (log != nullptr) log->push_back(messages.back().text());
  position_ = 0;
  place_count = 0;
  if (after_message) {
    const auto hook = after_message;
    hook();
  }
}

bool Peer::on_short_send(const ShortSend& short_send) {
  EXPECT_TRUE(is_established && !is_closed_);
  EXPECT_EQ(place_count, 0) << "in the middle of another message";
  if (!takes_short_sends) return false;
  ++short_send_count;
  if (short_send.acked) messages.push_back({{.opcode = Opcode::kNote, .note_value = *short_send.acked}, {}});
  const auto length = static_cast<std::uint32_t>(short_send.payload.size());
  messages.push_back(
      {{.opcode = short_send.opcode, .length = length}, {short_send.payload.begin(), short_send.payload.end()}});
  return true;
}

void Peer::on_writable() {
  EXPECT_FALSE(is_closed_);
  ++writable_count;
  if (before_writable) {
    const auto hook = before_writable;
    hook();
  }
  pump();
}

void Peer::on_established(const Offer& peer) {
  EXPECT_FALSE(is_established || is_closed_);
  EXPECT_TRUE(refusals.empty());
  is_established = true;
  established_offer = peer;
  if (after_established) {
    const auto hook = after_established;
    hook();
  }
}

void Peer::on_refused(Refusal reason, std::span<const std::byte> private_data) {
  EXPECT_FALSE(is_established || is_closed_);
  EXPECT_TRUE(refusals.empty());
  refusals.push_back(reason);
  refusal_data.assign(private_data.begin(), private_data.end());
  if (after_refused) {
    const auto hook = after_refused;
    hook();
  }
}

void Peer::on_closed(CloseReason reason, const TerminateCode& terminate) {
  EXPECT_TRUE(refusals.empty());
  EXPECT_TRUE(closings.empty()) << "closed twice";
  closings.push_back(reason);
  terminate_code = terminate;
  is_closed_ = true;
  if (after_closed) {
    const auto hook = after_closed;
    hook();
  }
}

PeerPort::PeerPort(Carrier& carrier, std::uint64_t service_id, std::uint32_t backlog) {
  ListenResult result = carrier.listen(service_id, backlog, *this);
  port = std::move(result.port);
  error = result.error;
}

void PeerPort::on_request(std::unique_ptr<InboundRequest> request) {
  if (handler) return handler(std::move(request));
  requests.push_back(std::move(request));
}

}  // namespace softdat::transport::conformance
