// SPDX-License-Identifier: BSD-2-Clause
// The TCP connections of a capture. One that begins again between the same ports gets another port, because Wireshark
// would take it for the earlier one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace softdat::tools::run {

// An address and a port.
constexpr std::size_t kEndSize = 18;
using FlowEnd = std::array<std::byte, kEndSize>;
// One direction of a connection: from, to.
using Flow = std::pair<FlowEnd, FlowEnd>;

inline constexpr std::uint8_t kSyn = 0x02, kAck = 0x10;

struct TcpHeader {
  std::size_t at = 0;  // in the packet
  Flow flow{};
  std::uint8_t flags = 0;
  std::uint32_t sequence = 0;
  std::uint32_t next = 0;  // the sequence number behind the packet; a RST counts as one, so that its copy is not new
};

// Returns nullopt if the packet is not TCP over IP.
std::optional<TcpHeader> find_tcp(std::span<const std::byte> packet);

class CaptureFlows {
 public:
  // First for each packet, in any order: its ports are taken.
  void take_ports(const TcpHeader& tcp);
  // Whether the packet stands behind all that is written of its direction.
  bool is_new(const TcpHeader& tcp) const;
  // Then for each packet that is written, in the order of time.
  void rewrite(const TcpHeader& tcp, std::span<std::byte> packet);

 private:
  // One of the connections that had the same ends.
  struct Connection {
    std::uint16_t port = 0;  // of its initiator, as it is written
    std::uint32_t next_forth = 0;
    std::uint32_t next_back = 0;
  };

  Connection& find(std::vector<Connection>& connections, const TcpHeader& tcp, bool is_forth) const;
  std::uint16_t free_port(const FlowEnd& initiator);

  std::set<FlowEnd> taken_;
  std::map<Flow, std::vector<Connection>> connections_;  // by the way from the initiator
  std::uint16_t last_port_ = 0;
};

}  // namespace softdat::tools::run
