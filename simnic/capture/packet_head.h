// SPDX-License-Identifier: BSD-2-Clause
// The IP and TCP headers of packets that were never on a network. Their TCP checksum is 0, as that of packets which a
// network card completes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/ip_address.h"

namespace softdat::simnic::capture {

// Bits of the TCP header.
inline constexpr std::uint8_t kFin = 0x01;
inline constexpr std::uint8_t kSyn = 0x02;
inline constexpr std::uint8_t kReset = 0x04;
inline constexpr std::uint8_t kPush = 0x08;
inline constexpr std::uint8_t kAck = 0x10;

// The TCP port that a capture shows for the port of an endpoint or for a service: the same number above 32767, where
// Wireshark takes no port for that of another protocol.
std::uint16_t shown_port(std::uint64_t number);

struct TcpHead {
  base::IpAddress from{};
  base::IpAddress to{};
  std::uint32_t sequence = 0;
  std::uint32_t acknowledged = 0;
  std::uint8_t flags = 0;
  std::uint16_t identification = 0;
  std::size_t length = 0;  // of what TCP carries, at most 65000
};

inline constexpr std::size_t kMostPacketHead = 40 + 24;
// Returns the size. `to` has room for kMostPacketHead. If one address is IPv6, the other is written as one.
std::size_t write_packet_head(const TcpHead& head, std::byte* to);

}  // namespace softdat::simnic::capture
