// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/capture/stream.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "base/byte_order.h"
#include "simnic/capture/packet_head.h"
#include "transport/tcp/fpdu.h"
#include "transport/tcp/fpdu_head.h"
#include "transport/tcp/negotiation.h"
#include "transport/tcp/terminate.h"

namespace softdat::simnic::capture {
namespace {

namespace pcapng = base::pcapng;
namespace tcp = transport::tcp;
using transport::Message;
using transport::Offer;
using transport::Opcode;
using transport::Slice;

constexpr std::size_t kMostFront = 512;

std::span<const Slice> as_payload(const Slice& slice) {
  return {&slice, 1};
}

// A foreign peer may send more private data than fits beside our block; the capture shows its front.
Offer shown(const Offer& offer) {
  Offer cut = offer;
  cut.private_data.resize(std::min(cut.private_data.size(), transport::kMaxPrivateData));
  return cut;
}

tcp::MpaFrame request_of(const Offer& request) {
  tcp::TcpOptions options;
  options.is_peer_to_peer = false;  // the first FPDU is then the consumer's own
  return tcp::make_request(options, shown(request));
}

const char* name_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::kWrite:
      return "RDMA write";
    case Opcode::kReadRequest:
      return "RDMA read";
    case Opcode::kReadResponse:
      return "answer to an RDMA read";
    case Opcode::kSendInvalidate:
    case Opcode::kSendSolicitedInvalidate:
      return "send with invalidate";
    case Opcode::kTerminate:
      return "terminate";
    case Opcode::kImmediate:
    case Opcode::kImmediateSolicited:
      return "immediate data";
    case Opcode::kAtomicRequest:
      return "atomic operation";
    case Opcode::kAtomicResponse:
      return "answer to an atomic operation";
    default:
      return "send";
  }
}

const char* name_of(transport::NoteKind kind) {
  switch (kind) {
    case transport::NoteKind::kAck:
      return "acknowledges requests";
    case transport::NoteKind::kResend:
      return "has no receive, asks to send again from request";
    case transport::NoteKind::kResent:
      return "sends again from request";
    case transport::NoteKind::kBye:
      return "disconnects";
    case transport::NoteKind::kWords:
      return "says why it terminates";
    case transport::NoteKind::kLacking:
      return "lacks a receive, for milliseconds";
  }
  return "note";
}

// A note travels as a write of no bytes.
Message on_the_wire(const Message& message) {
  if (message.opcode != Opcode::kNote) return message;
  return {.opcode = Opcode::kWrite, .offset = tcp::encode_note(message.note, message.note_value)};
}

}  // namespace

Stamp now() {
  const auto time = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<Stamp>(std::chrono::nanoseconds(time).count());
}

Stream::Stream(const Place& place, const transport::Address& own, const transport::Address& peer, std::uint16_t port,
               bool is_initiator)
    : place_(place),
      is_initiator_(is_initiator),
      endpoint_(port == 0 ? 0 : port - 1u - place.port_base),
      own_{.address = own},
      peer_{.address = peer} {
  comment_.reserve(256);
  slices_.reserve(transport::SliceList::kCapacity);
}

void Stream::put(Way way, const Segment& segment, Stamp stamp, std::string_view comment) {
  Side& sender = side(way);
  const Side& receiver = side(way == Way::kOut ? Way::kIn : Way::kOut);
  const std::size_t length = segment.head.size() + segment.payload_length + segment.back;
  std::byte front[kMostFront];
  const std::size_t ip = write_packet_head({.from = sender.address,
                                            .to = receiver.address,
                                            .sequence = sender.next,
                                            .acknowledged = receiver.whole,
                                            .flags = segment.flags,
                                            .identification = identification_++,
                                            .length = length},
                                           front);
  if (!segment.head.empty()) std::memcpy(front + ip, segment.head.data(), segment.head.size());
  // Both ends of a connection may be captured: the merge (tools/softdat/run/capture_merge.cc) keeps the packet of its
  // author and drops the other one.
  const bool is_author = segment.is_handshake ? is_initiator_ : way == Way::kOut;
  const std::uint32_t flags =
      (way == Way::kOut ? pcapng::kOutbound : pcapng::kInbound) | (is_author ? pcapng::kUnicast : pcapng::kPromiscuous);
  place_.recorder.add({.head = {.interface = place_.interface, .time_ns = stamp, .flags = flags, .comment = comment},
                       .front = {front, ip + segment.head.size()},
                       .payload = segment.payload,
                       .payload_length = segment.payload_length,
                       .back = segment.back,
                       .hidden = segment.hidden});
  // SYN and FIN take a sequence number each (RFC 9293 section 3.4).
  sender.next += static_cast<std::uint32_t>(length) + ((segment.flags & (kSyn | kFin)) != 0 ? 1 : 0);
  // The sender stamps a message when all of it has been taken, so no part of it may be acknowledged before.
  if (!segment.is_part) sender.whole = sender.next;
}

void Stream::put_bare(Way way, std::uint8_t flags, Stamp stamp, bool is_handshake, std::string_view comment) {
  put(way, {.flags = flags, .is_handshake = is_handshake}, stamp, comment);
}

// A handshake frame goes as one packet, whatever its length.
void Stream::put_frame(Way way, const tcp::MpaFrame& frame, Stamp stamp, bool is_handshake) {
  std::vector<std::byte> bytes = tcp::encode_mpa_frame(frame);
  const Slice slice{bytes.data(), bytes.size()};
  put(way,
      {.flags = kPush | kAck,
       .payload = as_payload(slice),
       .payload_length = bytes.size(),
       .is_handshake = is_handshake},
      stamp, {});
}

// "client[4711] sim0 endpoint 1 connects to service 45248 over shm"
std::string Stream::title(const Offer& request, std::string_view carrier) const {
  std::string text = place_.name;
  if (endpoint_ != 0) text += " endpoint " + std::to_string(endpoint_);
  text += (is_initiator_ ? " connects to service " : " is asked for service ") + std::to_string(request.service_id);
  if (!carrier.empty()) text.append(" over ").append(carrier);
  return text;
}

void Stream::ask_in_vain(const Offer& request, Stamp asked, bool is_answered) {
  put_bare(from(true), kSyn, asked, true, title(request, ""));
  if (is_answered) put_bare(from(false), kReset | kAck, now(), true);
}

void Stream::begin(const Offer& request, Stamp asked, const char* carrier) {
  const Way out = from(true), in = from(false);
  put_bare(out, kSyn, asked, true, title(request, carrier));
  put_bare(in, kSyn | kAck, asked, true);
  put_bare(out, kAck, asked, true);
  put_frame(out, request_of(request), asked, true);
}

// The responder is the author: it may send at once, and its messages must not come before its reply.
void Stream::accept(const Offer& request, const Offer& reply, transport::Features agreed, Stamp answered) {
  const tcp::Agreement agreement{.is_own = agreed != 0, .features = agreed};
  put_frame(from(false), tcp::make_reply(agreement, request_of(request), shown(reply)), answered, false);
}

void Stream::reject(const Offer& request, std::span<const std::byte> private_data) {
  Offer answer;
  answer.private_data.assign(private_data.begin(), private_data.end());
  put_frame(from(false), tcp::make_refusal(request_of(request), tcp::Verdict::kByConsumer, shown(answer)), now(), true);
  put_bare(from(false), kFin | kAck, now(), true);
  put_bare(from(true), kFin | kAck, now(), true);
}

void Stream::finish(Way way) {
  if (std::exchange(side(way).is_finished, true)) return;
  put_bare(way, kFin | kAck, now(), false);
}

void Stream::reset(Way way) {
  if (std::exchange(side(way).is_finished, true)) return;
  put_bare(way, kReset | kAck, now(), false);
}

// The quoted segment is left out: the capture has it.
void Stream::terminate(Way way, const transport::TerminateCode& code) {
  if (side(way).is_finished) return;
  std::byte head[tcp::kLengthSize + tcp::kUntaggedHeadSize + tcp::kMaxTerminateSize];
  const tcp::Segment segment{.opcode = Opcode::kTerminate,
                             .queue = tcp::kTerminateQueue,
                             .sequence = side(way).messages[tcp::kTerminateQueue]};
  std::size_t ulpdu = tcp::encode_segment(segment, head + tcp::kLengthSize);
  ulpdu += tcp::encode_terminate(tcp::make_terminate(code, 0, {}), head + tcp::kLengthSize + ulpdu);
  base::store_be(head, static_cast<std::uint16_t>(ulpdu));
  put(way, {.flags = kPush | kAck, .head = {head, tcp::kLengthSize + ulpdu}, .back = tcp::trailer_of(ulpdu)}, now(),
      {});
}

// "client[4711] sim0 endpoint 1: RDMA write of 4096 bytes to key 0x1a05"
void Stream::describe(const Message& message) {
  char text[192];
  int length = 0;
  if (message.opcode == Opcode::kNote) {
    length = std::snprintf(text, sizeof text, " endpoint %u: %s %llu", endpoint_, name_of(message.note),
                           static_cast<unsigned long long>(message.note_value));
  } else {
    length = std::snprintf(text, sizeof text, " endpoint %u: %s of %u bytes", endpoint_, name_of(message.opcode),
                           message.length);
  }
  comment_.assign(place_.name).append(text, static_cast<std::size_t>(std::max(length, 0)));
  const bool is_remote = message.opcode == Opcode::kReadRequest || message.opcode == Opcode::kAtomicRequest;
  const std::uint32_t key = is_remote ? message.source_stag : message.stag;
  if (key == 0) return;
  const std::uint64_t place = is_remote ? message.source_offset : message.offset;
  length = std::snprintf(text, sizeof text, ", key 0x%08x at 0x%llx", key, static_cast<unsigned long long>(place));
  comment_.append(text, static_cast<std::size_t>(std::max(length, 0)));
}

void Stream::add(Way way, const Message& message, const Part& part, Stamp stamp) {
  std::byte head[tcp::kLengthSize + tcp::kMaxHeadSize];
  const Message carried = on_the_wire(message);
  std::uint32_t& number = side(way).messages[tcp::row_of(carried.opcode).queue];
  const std::size_t size = tcp::encode_fpdu_head(carried, part.offset, part.length, number, false, head);
  const bool is_last = part.offset + part.length == payload_length(carried);
  if (is_last && !is_tagged(carried.opcode)) ++number;
  const bool is_first = part.offset == 0 && way == Way::kOut;
  if (is_first) describe(message);
  const std::size_t shown = std::min(part.length, place_.recorder.snap_length());
  // The ULPDU length is that of what is shown, so that a dissector finds the next FPDU; `hidden` keeps the true length.
  const std::size_t ulpdu = size - tcp::kLengthSize + shown;
  base::store_be(head, static_cast<std::uint16_t>(ulpdu));
  put(way,
      {.flags = kPush | kAck,
       .head = {head, size},
       .payload = part.bytes,
       .payload_length = shown,
       .back = tcp::trailer_of(ulpdu),
       .hidden = part.length - shown,
       .is_part = !is_last},
      stamp, is_first ? std::string_view(comment_) : std::string_view());
}

// Called after the channel took the message, in the same section: the key still holds, so the payload can be gathered
// once more.
void Stream::send(const Message& message, transport::PayloadSource* payload, Stamp stamp) {
  const std::uint32_t total = payload_length(message);
  const std::size_t most = place_.recorder.snap_length();
  std::uint32_t offset = 0;
  do {
    Part part{.offset = offset, .length = std::min<std::size_t>(total - offset, kMostPayload)};
    slices_.clear();
    for (std::size_t found = 0; found < std::min(part.length, most);) {
      transport::SliceList list;
      if (!payload->gather(offset + found, std::min(part.length, most) - found, list) || list.empty()) break;
      for (const Slice& slice : list.slices()) {
        const std::size_t length = std::min(slice.length, part.length - found);
        slices_.push_back({slice.data, length});
        found += length;
      }
    }
    part.bytes = slices_;
    add(Way::kOut, message, part, stamp);
    offset += static_cast<std::uint32_t>(part.length);
  } while (offset < total);
}

}  // namespace softdat::simnic::capture
