// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/capture/packet_head.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "base/byte_order.h"

namespace softdat::simnic::capture {
namespace {

using base::store_be;

constexpr std::size_t kIpv4Size = 20;
constexpr std::size_t kIpv6Size = 40;
constexpr std::size_t kTcpSize = 20;
constexpr std::size_t kScaleSize = 4;  // the option, on a SYN
constexpr std::uint8_t kTcp = 6;
constexpr std::uint8_t kHops = 64;
constexpr std::uint8_t kScale = 14;  // windows count in units of 16 KiB, so that none is ever full

// RFC 1071. The TCP checksum is left 0: it would cover payload that may not be captured.
std::uint16_t checksum(const std::byte* from, std::size_t size) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < size; i += 2) sum += base::load_be<std::uint16_t>(from + i);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

void write_ipv4(const TcpHead& head, std::size_t length, std::byte* to) {
  std::memset(to, 0, kIpv4Size);
  to[0] = std::byte{0x45};
  store_be(to + 2, static_cast<std::uint16_t>(kIpv4Size + length));
  store_be(to + 4, head.identification);
  store_be(to + 6, std::uint16_t{0x4000});  // not to be fragmented
  to[8] = std::byte{kHops};
  to[9] = std::byte{kTcp};
  store_be(to + 12, head.from.ipv4);
  store_be(to + 16, head.to.ipv4);
  store_be(to + 10, checksum(to, kIpv4Size));
}

// One address of IPv6 makes the packet one of IPv6; the other is then mapped.
void write_ipv6_address(const base::IpAddress& address, std::byte* to) {
  if (address.is_ipv6()) {
    std::memcpy(to, address.ipv6.bytes.data(), address.ipv6.bytes.size());
    return;
  }
  std::memset(to, 0, 16);
  store_be(to + 10, std::uint16_t{0xffff});
  store_be(to + 12, address.ipv4);
}

void write_ipv6(const TcpHead& head, std::size_t length, std::byte* to) {
  store_be(to, std::uint32_t{0x60000000});
  store_be(to + 4, static_cast<std::uint16_t>(length));
  to[6] = std::byte{kTcp};
  to[7] = std::byte{kHops};
  write_ipv6_address(head.from, to + 8);
  write_ipv6_address(head.to, to + 24);
}

// The ports of the upper half for which Wireshark 4 has a dissector.
constexpr std::uint16_t kKnownPorts[] = {34980, 44321, 44322, 44818, 48049, 48898, 57000};

}  // namespace

std::uint16_t shown_port(std::uint64_t number) {
  constexpr std::uint64_t kHalf = 32768;
  // Service ids have 64 bits and ports 16. The upper half has few protocols that a reader would dissect instead of
  // iWARP.
  auto port = static_cast<std::uint16_t>(kHalf + number % kHalf);
  while (std::find(std::begin(kKnownPorts), std::end(kKnownPorts), port) != std::end(kKnownPorts)) ++port;
  return port;
}

std::size_t write_packet_head(const TcpHead& head, std::byte* to) {
  const bool is_ipv6 = head.from.is_ipv6() || head.to.is_ipv6();
  const bool is_syn = (head.flags & kSyn) != 0;
  const std::size_t tcp_size = kTcpSize + (is_syn ? kScaleSize : 0);
  const std::size_t length = tcp_size + head.length;
  if (is_ipv6) {
    write_ipv6(head, length, to);
  } else {
    write_ipv4(head, length, to);
  }
  std::byte* const tcp = to + (is_ipv6 ? kIpv6Size : kIpv4Size);
  store_be(tcp, head.from.port);
  store_be(tcp + 2, head.to.port);
  store_be(tcp + 4, head.sequence);
  store_be(tcp + 8, (head.flags & kAck) != 0 ? head.acknowledged : 0u);
  tcp[12] = static_cast<std::byte>(tcp_size / 4 << 4);
  tcp[13] = std::byte{head.flags};
  store_be(tcp + 14, std::uint16_t{0xffff});
  store_be(tcp + 16, std::uint32_t{0});  // checksum, urgent pointer
  if (is_syn) {
    const std::byte scale[kScaleSize] = {std::byte{3}, std::byte{3}, std::byte{kScale}, std::byte{1}};
    std::memcpy(tcp + kTcpSize, scale, sizeof scale);
  }
  return static_cast<std::size_t>(tcp + tcp_size - to);
}

}  // namespace softdat::simnic::capture
