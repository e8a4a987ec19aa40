// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/capture/recording.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <new>
#include <optional>
#include <span>
#include <string_view>

#include "base/byte_order.h"
#include "base/pcapng.h"
#include "base/unique_fd.h"
#include "tools/softdat/dat_call.h"
#include "tools/softdat/run/capture_flows.h"

namespace softdat::tools::capture {
namespace {

namespace pcapng = base::pcapng;
using base::load_be;
using run::Flow;
using View = std::span<const std::byte>;

constexpr std::uint8_t kFin = 0x01, kReset = 0x04;
// Lengths of RFC 5044 (MPA), RFC 6581 (enhanced set-up), RFC 5041 (DDP) and RFC 5040 (RDMAP), and of docs/WIRE.md.
constexpr std::size_t kMpaHead = 20, kEnhanced = 4, kBlock = 36;
constexpr std::size_t kTagged = 14, kUntagged = 18;
constexpr std::size_t kReadBody = 28, kAtomicBody = 52, kAnswerBody = 12;
constexpr std::uint8_t kNoteResent = 3, kLastNote = 6;
constexpr std::size_t kPort = 16;  // in run::FlowEnd
constexpr const char* kMissing = "packets are missing before it; a capture that dropped some is not replayed";

// One direction of a connection.
struct Way {
  std::optional<Message> partial{};  // of which more segments come
  std::uint64_t requests = 0;        // posted so far, those that were dropped at the receiver aside
  std::size_t awaiting = 0;          // messages before this one await no answer, if they are requests of this way
};

struct Open {
  Connection connection{};
  Way ways[2]{};  // of the initiator, of the responder
};

std::uint16_t port_of(const run::FlowEnd& end) {
  return load_be<std::uint16_t>(end.data() + kPort);
}

// "... service 4712 over shm" of a comment; 0: it names none.
std::uint64_t service_of(std::string_view comment) {
  constexpr std::string_view kWord = " service ";
  const std::size_t at = comment.find(kWord);
  std::uint64_t service = 0;
  if (at == comment.npos) return 0;
  for (const char digit : comment.substr(at + kWord.size())) {
    if (digit < '0' || digit > '9') break;
    service = service * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  return service;
}

class Reader {
 public:
  explicit Reader(const std::string& file);
  std::vector<Connection> read();

 private:
  void take_packet(const pcapng::Packet& packet);
  void begin(const run::TcpHeader& tcp, std::string_view comment);
  void take_payload(Open& open, bool is_forth, View payload, bool is_cut);
  void take_frame(Open& open, bool is_forth, View frame);
  void take_segment(Open& open, bool is_forth, View ulpdu, bool is_cut);
  void take_message(Open& open, bool is_forth, Message message);
  void take_note(Open& open, bool is_forth, std::uint64_t offset);
  void answer(Open& open, bool is_forth, Message& response) const;
  [[noreturn]] void refuse(const std::string& why) const;

  const std::string name_;
  const std::vector<std::byte> file_;
  std::uint64_t frame_ = 0;
  std::vector<Open> connections_;
  std::map<Flow, std::size_t> flows_;  // from the initiator
};

// A file of another kind may have no end, or never have one.
std::vector<std::byte> read_whole(const std::string& name) {
  const auto failure = [&](const std::string& why) {
    return Failure(fmt::format("cannot read the capture \"{}\": {}", name, why));
  };
  struct stat status = {};
  const base::UniqueFd file(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file || ::fstat(file.get(), &status) != 0) throw failure(std::strerror(errno));
  if (S_ISDIR(status.st_mode)) throw failure("it is a directory; give a file");
  if (!S_ISREG(status.st_mode)) throw failure("it is no regular file");
  std::vector<std::byte> bytes(static_cast<std::size_t>(status.st_size));
  std::size_t got = 0;
  while (got < bytes.size()) {
    const ssize_t more = ::read(file.get(), bytes.data() + got, bytes.size() - got);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) throw failure(std::strerror(errno));
    if (more == 0) break;  // another process has cut it
    got += static_cast<std::size_t>(more);
  }
  bytes.resize(got);
  return bytes;
}

// Reads the whole file: a capture is replayed only when all of it is there.
Reader::Reader(const std::string& file) : name_(file), file_(read_whole(file)) {}

void Reader::refuse(const std::string& why) const {
  throw Failure(fmt::format("\"{}\", packet {}: {}; give a file of softdat run --capture or softdat capture PID", name_,
                            frame_, why));
}

void Reader::begin(const run::TcpHeader& tcp, std::string_view comment) {
  Open open;
  open.connection.frame = frame_;
  open.connection.service = service_of(comment);
  if (open.connection.service == 0) open.connection.service = port_of(tcp.flow.second);
  open.connection.is_seen_whole = comment.find("since before the capture began") == comment.npos;
  flows_[tcp.flow] = connections_.size();
  connections_.push_back(std::move(open));
}

// The captures of SoftDAT have one FPDU a packet, so no TCP stream is put together.
void Reader::take_packet(const pcapng::Packet& packet) {
  const auto tcp = run::find_tcp(packet.data);
  if (!tcp) refuse("it is not TCP over IP");
  // A SYN begins a connection; its comment names the service.
  if ((tcp->flags & (run::kSyn | run::kAck)) == run::kSyn) return begin(*tcp, packet.head.comment);
  auto found = flows_.find(tcp->flow);
  const bool is_forth = found != flows_.end();
  if (!is_forth) found = flows_.find({tcp->flow.second, tcp->flow.first});
  if (found == flows_.end()) refuse("its connection does not begin in the file");
  Open& open = connections_[found->second];
  const std::size_t head = tcp->at + (std::to_integer<std::size_t>(packet.data[tcp->at + 12]) >> 4) * 4;
  if (head > packet.data.size()) refuse("its TCP header is cut");
  if (head < packet.data.size()) {
    take_payload(open, is_forth, packet.data.subspan(head), packet.head.captured < packet.head.original);
  }
  Connection::End& end = open.connection.end;
  if (end != Connection::End::kNone || !open.connection.is_answered) return;
  if ((tcp->flags & kReset) != 0) end = Connection::End::kBroken;
  if ((tcp->flags & kFin) != 0) end = is_forth ? Connection::End::kByInitiator : Connection::End::kByResponder;
}

void Reader::take_payload(Open& open, bool is_forth, View payload, bool is_cut) {
  const bool was_shaken = open.connection.is_answered;
  if (!was_shaken) return take_frame(open, is_forth, payload);
  if (payload.size() < 2) refuse("it has no whole FPDU");
  const std::size_t length = load_be<std::uint16_t>(payload.data());
  const View ulpdu = payload.subspan(2, std::min(length, payload.size() - 2));
  take_segment(open, is_forth, ulpdu, is_cut || ulpdu.size() < length);
}

// The consumer's private data stand between the enhanced bytes and the block of SoftDAT's own (docs/WIRE.md).
void Reader::take_frame(Open& open, bool is_forth, View frame) {
  if (frame.size() < kMpaHead || std::memcmp(frame.data(), "MPA ID ", 7) != 0) refuse("it is no MPA frame");
  const auto flags = std::to_integer<unsigned>(frame[16]);
  const std::size_t length = load_be<std::uint16_t>(frame.data() + 18);
  if (frame.size() < kMpaHead + length) refuse("its MPA frame is cut");
  View data = frame.subspan(kMpaHead, length);
  if ((flags & 0x10) != 0 && data.size() >= kEnhanced) data = data.subspan(kEnhanced);
  if (data.size() >= kBlock && std::memcmp(data.data() + data.size() - kBlock, "SDAT", 4) == 0) {
    data = data.first(data.size() - kBlock);
  }
  Connection& connection = open.connection;
  (is_forth ? connection.request : connection.reply).assign(data.begin(), data.end());
  (is_forth ? connection.is_requested : connection.is_answered) = true;
  if (!is_forth) connection.is_rejected = (flags & 0x20) != 0;
}

// A message ends with the segment that has the L bit (0x40) of DDP. T (0x80) marks tagged segments.
void Reader::take_segment(Open& open, bool is_forth, View ulpdu, bool is_cut) {
  if (ulpdu.size() < 2) refuse("its DDP header is cut");
  const auto control = std::to_integer<unsigned>(ulpdu[0]);
  const auto opcode = static_cast<Opcode>(std::to_integer<unsigned>(ulpdu[1]) & 0xf);
  const bool is_tagged = (control & 0x80) != 0;
  const std::size_t head = is_tagged ? kTagged : kUntagged;
  if (ulpdu.size() < head) refuse("its DDP header is cut");
  Way& way = open.ways[is_forth ? 0 : 1];
  if (!way.partial) {
    way.partial = Message{.opcode = opcode, .is_from_initiator = is_forth, .frame = frame_};
    if (is_tagged) {
      way.partial->stag = load_be<std::uint32_t>(ulpdu.data() + 2);
      way.partial->address = load_be<std::uint64_t>(ulpdu.data() + 6);
    }
  }
  if (way.partial->opcode != opcode) refuse(kMissing);
  const View body = ulpdu.subspan(head);
  way.partial->bytes.insert(way.partial->bytes.end(), body.begin(), body.end());
  way.partial->is_cut = way.partial->is_cut || is_cut;
  if ((control & 0x40) == 0) return;
  Message whole = std::move(*way.partial);
  way.partial.reset();
  take_message(open, is_forth, std::move(whole));
}

void read_body(Message& message, const std::byte* from) {
  if (message.opcode == Opcode::kReadRequest) {
    message.length = load_be<std::uint32_t>(from + 12);
    message.stag = load_be<std::uint32_t>(from + 16);
    message.address = load_be<std::uint64_t>(from + 20);
    return;
  }
  message.length = sizeof(std::uint64_t);
  message.is_swap = (load_be<std::uint32_t>(from) & 0xf) != 0;
  message.stag = load_be<std::uint32_t>(from + 8);
  message.address = load_be<std::uint64_t>(from + 12);
  message.operand = load_be<std::uint64_t>(from + 20);
  message.compare = load_be<std::uint64_t>(from + 36);
}

// An answer belongs to the oldest read or atomic of the other side that has none.
void Reader::answer(Open& open, bool is_forth, Message& response) const {
  std::vector<Message>& messages = open.connection.messages;
  std::size_t& next = open.ways[is_forth ? 1 : 0].awaiting;
  while (next < messages.size()) {
    Message& request = messages[next++];
    const bool is_awaiting = request.opcode == Opcode::kReadRequest || request.opcode == Opcode::kAtomicRequest;
    if (!is_awaiting || request.is_answered || request.is_from_initiator == is_forth) continue;
    request.is_answered = true;
    request.is_cut = response.is_cut;
    if (request.opcode == Opcode::kReadRequest) {
      // Memory is made for what the request names. Less of it is there only where the capture has cut packets.
      const std::size_t length = response.bytes.size();
      if (length > request.length || (length < request.length && !response.is_cut)) refuse(kMissing);
      request.bytes = std::move(response.bytes);
    } else if (response.bytes.size() >= kAnswerBody) {
      // As the memory of this host has it.
      const auto original = load_be<std::uint64_t>(response.bytes.data() + 4);
      request.bytes.resize(sizeof original);
      std::memcpy(request.bytes.data(), &original, sizeof original);
    }
    return;
  }
}

void Reader::take_message(Open& open, bool is_forth, Message message) {
  // A tagged write without bytes to STag 0 is a note of SoftDAT's own; the offset has its kind and value
  // (docs/WIRE.md).
  const bool is_note = message.opcode == Opcode::kWrite && message.stag == 0 && message.bytes.empty();
  if (is_note) return take_note(open, is_forth, message.address);
  if (message.opcode == Opcode::kReadResponse || message.opcode == Opcode::kAtomicResponse) {
    return answer(open, is_forth, message);
  }
  if (message.opcode == Opcode::kTerminate) {
    open.connection.end = Connection::End::kBroken;
    return;
  }
  const bool is_read = message.opcode == Opcode::kReadRequest;
  if (is_read || message.opcode == Opcode::kAtomicRequest) {
    if (message.bytes.size() < (is_read ? kReadBody : kAtomicBody)) refuse("its RDMAP header is cut");
    const Bytes body = std::move(message.bytes);
    message.bytes.clear();
    read_body(message, body.data());
  }
  Way& way = open.ways[is_forth ? 0 : 1];
  message.number = way.requests++;
  open.connection.messages.push_back(std::move(message));
}

// Messages that the receiver dropped for want of a receive are sent again.
void Reader::take_note(Open& open, bool is_forth, std::uint64_t offset) {
  const std::uint64_t kind = offset >> 56, value = offset & ((std::uint64_t{1} << 56) - 1);
  if (kind > kLastNote || kind != kNoteResent) return;
  std::erase_if(open.connection.messages, [&](const Message& message) {
    return message.is_from_initiator == is_forth && message.number >= value;
  });
  Way& way = open.ways[is_forth ? 0 : 1];
  way.requests = std::min(way.requests, value);
  // Messages have other places now.
  for (Way& each : open.ways) each.awaiting = 0;
}

std::vector<Connection> Reader::read() {
  View rest = file_;
  bool is_pcapng = false;
  while (const auto block = pcapng::take_block(rest)) {
    is_pcapng = is_pcapng || block->type == pcapng::BlockType::kSection;
    if (const auto statistics = pcapng::read_statistics(*block); statistics && statistics->dropped != 0) {
      throw Failure(
          fmt::format("\"{}\" lacks {} packets that were dropped as they were captured, so it is not replayed; capture "
                      "anew with a larger --capture-buffer (softdat run) or --buffer (softdat capture)",
                      name_, statistics->dropped));
    }
    const auto packet = pcapng::read_packet(*block);
    if (!packet) continue;
    ++frame_;
    take_packet(*packet);
  }
  if (!is_pcapng) refuse("the file is no pcapng capture");
  std::vector<Connection> result;
  // Numbers the messages as a reader counts them, once the dropped ones are out.
  for (Open& open : connections_) {
    std::uint64_t number = 0;
    for (Message& message : open.connection.messages) message.number = ++number;
    if (open.connection.is_requested) result.push_back(std::move(open.connection));
  }
  return result;
}

}  // namespace

bool is_send(Opcode opcode) {
  return opcode >= Opcode::kSend && opcode <= Opcode::kSendSolicitedInvalidate;
}

bool is_request(Opcode opcode) {
  return is_send(opcode) || opcode == Opcode::kWrite || opcode == Opcode::kReadRequest ||
         opcode == Opcode::kAtomicRequest;
}

std::vector<Connection> read_recording(const std::string& file) try {
  return Reader(file).read();
} catch (const std::bad_alloc&) {
  throw Failure(fmt::format("there is no memory for the packets of \"{}\"; capture a shorter run", file));
}

}  // namespace softdat::tools::capture
