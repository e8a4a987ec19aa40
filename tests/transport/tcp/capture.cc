// SPDX-License-Identifier: BSD-2-Clause
#include "tests/transport/tcp/capture.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/byte_order.h"
#include "transport/tcp/fpdu.h"
#include "transport/tcp/mpa_frame.h"

namespace softdat::transport::tcp {
namespace {

constexpr std::uint8_t kSyn = 0x02;
constexpr std::uint8_t kAck = 0x10;
constexpr std::uint8_t kPush = 0x08;
constexpr std::size_t kMostPerPacket = 60000;
constexpr std::size_t kIpHeader = 20;
constexpr std::size_t kTcpHeader = 20;
constexpr std::uint32_t kClient = 0x0a000001;
constexpr std::uint32_t kServer = 0x0a000002;
constexpr std::uint16_t kFirstClientPort = 50000;
constexpr std::size_t kFileHeader = 24;
constexpr std::size_t kPacketHeader = 16;

template <typename T>
void append(Bytes& to, T value) {
  const std::size_t at = to.size();
  to.resize(at + sizeof value);
  base::store_be(to.data() + at, value);
}

std::uint16_t ip_checksum(std::span<const std::byte> header) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < header.size(); i += 2) sum += base::load_be<std::uint16_t>(&header[i]);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

Bytes ip_header(bool is_from_client, std::size_t length) {
  Bytes header = hex("4500");
  append(header, static_cast<std::uint16_t>(length));
  header = header + hex("0000 4000 4006 0000");
  append(header, is_from_client ? kClient : kServer);
  append(header, is_from_client ? kServer : kClient);
  base::store_be(header.data() + 10, ip_checksum(header));
  return header;
}

// How long the frame at the front is; more than there is where that is not known yet.
std::size_t frame_size(const Bytes& bytes, bool is_fpdu) {
  if (is_fpdu) return bytes.size() < kLengthSize ? kLengthSize : fpdu_size(base::load_be<std::uint16_t>(bytes.data()));
  if (bytes.size() < kMpaHeaderSize) return kMpaHeaderSize;
  return kMpaHeaderSize + base::load_be<std::uint16_t>(bytes.data() + kMpaHeaderSize - 2);
}

}  // namespace

// Big-endian, microseconds, packets that begin with their IP header (LINKTYPE_RAW).
Capture::Capture() : file_(hex("a1b2c3d4 0002 0004 00000000 00000000 00040000 00000065")) {}

void Capture::begin_connection() {
  ++connection_;
  directions_[0] = {.next = 1000};
  directions_[1] = {.next = 2000};
  add_packet(true, kSyn, {});
  add_packet(false, kSyn | kAck, {});
  add_packet(true, kAck, {});
}

void Capture::add(bool is_from_client, std::span<const std::byte> bytes) {
  Direction& direction = directions_[is_from_client ? 1 : 0];
  Bytes& rest = direction.rest;
  rest.insert(rest.end(), bytes.begin(), bytes.end());
  for (;;) {
    const std::size_t size = frame_size(rest, direction.has_begun);
    if (rest.size() < size) return;
    const auto end = rest.begin() + static_cast<std::ptrdiff_t>(size);
    add_frame(is_from_client, Bytes(rest.begin(), end));
    rest.erase(rest.begin(), end);
    direction.has_begun = true;
  }
}

void Capture::add_frame(bool is_from_client, const Bytes& frame) {
  frames_.push_back({connection_, is_from_client, frame});
  std::span<const std::byte> bytes = frame;
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min(bytes.size(), kMostPerPacket));
    add_packet(is_from_client, kPush | kAck, part);
    bytes = bytes.subspan(part.size());
  }
}

void Capture::add_packet(bool is_from_client, std::uint8_t flags, std::span<const std::byte> bytes) {
  const std::size_t length = kIpHeader + kTcpHeader + bytes.size();
  const auto client_port = static_cast<std::uint16_t>(kFirstClientPort + connection_);
  Direction& own = directions_[is_from_client ? 1 : 0];
  const Direction& other = directions_[is_from_client ? 0 : 1];
  append(file_, std::uint32_t{1});
  append(file_, ++microseconds_);
  append(file_, static_cast<std::uint32_t>(length));
  append(file_, static_cast<std::uint32_t>(length));
  file_ = file_ + ip_header(is_from_client, length);
  append(file_, is_from_client ? client_port : kPort);
  append(file_, is_from_client ? kPort : client_port);
  append(file_, own.next);
  append(file_, (flags & kAck) != 0 ? other.next : 0u);
  append(file_, static_cast<std::uint16_t>(0x5000 | flags));
  file_ = file_ + hex("ffff 0000 0000");
  file_.insert(file_.end(), bytes.begin(), bytes.end());
  own.next += static_cast<std::uint32_t>(bytes.size()) + ((flags & kSyn) != 0 ? 1 : 0);
}

void Capture::write(const std::string& path) const {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(file_.data()), static_cast<std::streamsize>(file_.size()));
}

std::vector<Capture::Frame> Capture::read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  Capture capture;
  for (std::size_t at = kFileHeader; at + kPacketHeader <= text.size();) {
    const auto* const packet = reinterpret_cast<const std::byte*>(text.data()) + at + kPacketHeader;
    const std::size_t length = base::load_be<std::uint32_t>(packet - 8);
    at += kPacketHeader + length;
    if (at > text.size() || length < kIpHeader + kTcpHeader) break;
    const bool is_from_client = base::load_be<std::uint16_t>(packet + kIpHeader + 2) == kPort;
    const auto flags = std::to_integer<std::uint8_t>(packet[kIpHeader + 13]);
    if (flags == kSyn) capture.begin_connection();
    capture.add(is_from_client, {packet + kIpHeader + kTcpHeader, length - kIpHeader - kTcpHeader});
  }
  return capture.frames();
}

Relay::Relay(std::uint32_t here, std::uint32_t there, std::uint16_t port, Capture& capture)
    : there_(there), port_(port), client_(RawPeer::listening(here, port)), capture_(capture) {
  capture_.begin_connection();
}

void Relay::pass(RawPeer& from, RawPeer& to, bool is_from_client) {
  from.pump();
  const Bytes bytes = from.take(from.received().size());
  if (!bytes.empty()) to.send(bytes);
  capture_.add(is_from_client, bytes);
}

void Relay::pump() {
  if (!client_.is_connected() && client_.adopt()) server_ = RawPeer(there_, port_);
  if (!client_.is_connected()) return;
  pass(client_, server_, true);
  pass(server_, client_, false);
}

}  // namespace softdat::transport::tcp
