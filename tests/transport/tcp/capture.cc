// SPDX-License-Identifier: BSD-2-Clause
#include "tests/transport/tcp/capture.h"

#include <algorithm>
#include <fstream>

#include "base/byte_order.h"

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
constexpr std::uint16_t kClientPort = 50000;

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

}  // namespace

// Big-endian, microseconds, packets that begin with their IP header (LINKTYPE_RAW).
Capture::Capture() : file_(hex("a1b2c3d4 0002 0004 00000000 00000000 00040000 00000065")) {
  add_packet(true, kSyn, {});
  add_packet(false, kSyn | kAck, {});
  add_packet(true, kAck, {});
}

void Capture::add(bool is_from_client, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min(bytes.size(), kMostPerPacket));
    add_packet(is_from_client, kPush | kAck, part);
    bytes = bytes.subspan(part.size());
  }
}

void Capture::add_packet(bool is_from_client, std::uint8_t flags, std::span<const std::byte> bytes) {
  const std::size_t length = kIpHeader + kTcpHeader + bytes.size();
  append(file_, std::uint32_t{1});
  append(file_, ++microseconds_);
  append(file_, static_cast<std::uint32_t>(length));
  append(file_, static_cast<std::uint32_t>(length));
  file_ = file_ + ip_header(is_from_client, length);
  append(file_, is_from_client ? kClientPort : kPort);
  append(file_, is_from_client ? kPort : kClientPort);
  append(file_, next_[is_from_client ? 1 : 0]);
  append(file_, (flags & kAck) != 0 ? next_[is_from_client ? 0 : 1] : 0u);
  append(file_, static_cast<std::uint16_t>(0x5000 | flags));
  file_ = file_ + hex("ffff 0000 0000");
  file_.insert(file_.end(), bytes.begin(), bytes.end());
  next_[is_from_client ? 1 : 0] += static_cast<std::uint32_t>(bytes.size()) + ((flags & kSyn) != 0 ? 1 : 0);
}

void Capture::write(const std::string& path) const {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(file_.data()), static_cast<std::streamsize>(file_.size()));
}

Relay::Relay(std::uint32_t here, std::uint32_t there, std::uint16_t port)
    : there_(there), port_(port), client_(RawPeer::listening(here, port)) {}

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
