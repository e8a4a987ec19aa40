// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/run/capture_flows.h"

#include <algorithm>
#include <cstring>

#include "base/byte_order.h"

namespace softdat::tools::run {
namespace {

constexpr std::size_t kAddressSize = 16;
constexpr std::uint8_t kFin = 0x01, kReset = 0x04;
// Wireshark takes few of these ports for those of another protocol (simnic/capture/packet_head.h).
constexpr std::uint16_t kFirstFreePort = 58000, kLastFreePort = 65535;

std::uint16_t port_of(const FlowEnd& end) {
  return base::load_be<std::uint16_t>(end.data() + kAddressSize);
}

Flow reversed(const Flow& flow) {
  return {flow.second, flow.first};
}

}  // namespace

std::optional<TcpHeader> find_tcp(std::span<const std::byte> packet) {
  if (packet.empty()) return std::nullopt;
  const bool is_ipv6 = (packet[0] & std::byte{0xf0}) == std::byte{0x60};
  const std::size_t ip = is_ipv6 ? 40 : 20;
  if (packet.size() < ip + 20) return std::nullopt;
  const std::size_t length = is_ipv6 ? 16 : 4;
  const std::size_t from = is_ipv6 ? 8 : 12;
  TcpHeader header{.at = ip, .flags = std::to_integer<std::uint8_t>(packet[ip + 13])};
  std::memcpy(header.flow.first.data(), packet.data() + from, length);
  std::memcpy(header.flow.second.data(), packet.data() + from + length, length);
  std::memcpy(header.flow.first.data() + kAddressSize, packet.data() + ip, 2);
  std::memcpy(header.flow.second.data() + kAddressSize, packet.data() + ip + 2, 2);
  header.sequence = base::load_be<std::uint32_t>(packet.data() + ip + 4);
  // The length by the IP header: the capture may hold less of the packet (--snaplen).
  const std::uint32_t total = base::load_be<std::uint16_t>(packet.data() + (is_ipv6 ? 4 : 2)) + (is_ipv6 ? 40u : 0u);
  const auto head = static_cast<std::uint32_t>(ip + (std::to_integer<std::size_t>(packet[ip + 12]) >> 4) * 4);
  header.next =
      header.sequence + (total - std::min(total, head)) + ((header.flags & (kSyn | kFin | kReset)) != 0 ? 1u : 0u);
  return header;
}

void CaptureFlows::take_ports(const TcpHeader& tcp) {
  taken_.insert(tcp.flow.first);
  taken_.insert(tcp.flow.second);
}

// 0: all are taken.
std::uint16_t CaptureFlows::free_port(const FlowEnd& initiator) {
  // An end that no packet of the capture has, and that no earlier connection got.
  FlowEnd end = initiator;
  constexpr std::uint32_t kCount = kLastFreePort - kFirstFreePort + 1u;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    const auto port = static_cast<std::uint16_t>(kFirstFreePort + last_port_);
    last_port_ = static_cast<std::uint16_t>((last_port_ + 1u) % kCount);
    base::store_be(end.data() + kAddressSize, port);
    if (taken_.insert(end).second) return port;
  }
  return 0;
}

// The last one, but for packets that the one before it still had on the way.
CaptureFlows::Connection& CaptureFlows::find(std::vector<Connection>& connections, const TcpHeader& tcp,
                                             bool is_forth) const {
  const auto fits = [&](const Connection& connection) {
    return (is_forth ? connection.next_forth : connection.next_back) == tcp.sequence;
  };
  if (connections.size() > 1 && !fits(connections.back()) && fits(connections[connections.size() - 2])) {
    return connections[connections.size() - 2];
  }
  return connections.back();
}

bool CaptureFlows::is_new(const TcpHeader& tcp) const {
  auto found = connections_.find(tcp.flow);
  // Connections are kept by the way from their initiator, so the other way is looked for reversed.
  const bool is_forth = found != connections_.end();
  if (!is_forth) found = connections_.find(reversed(tcp.flow));
  if (found == connections_.end()) return true;
  const Connection& connection = found->second.back();
  // Sequence numbers wrap.
  const std::uint32_t ahead = tcp.sequence - (is_forth ? connection.next_forth : connection.next_back);
  return ahead < 0x80000000;
}

void CaptureFlows::rewrite(const TcpHeader& tcp, std::span<std::byte> packet) {
  // A SYN without ACK begins a connection. One between the same ends as an earlier one gets a port of its own.
  if ((tcp.flags & (kSyn | kAck)) == kSyn) {
    auto& connections = connections_[tcp.flow];
    std::uint16_t port = port_of(tcp.flow.first);
    if (!connections.empty()) {
      const std::uint16_t other = free_port(tcp.flow.first);
      if (other != 0) port = other;
    }
    connections.push_back({.port = port, .next_forth = tcp.sequence, .next_back = 0});
  }
  auto found = connections_.find(tcp.flow);
  const bool is_forth = found != connections_.end();
  if (!is_forth) found = connections_.find(reversed(tcp.flow));
  if (found == connections_.end()) return;
  Connection& connection = find(found->second, tcp, is_forth);
  (is_forth ? connection.next_forth : connection.next_back) = tcp.next;
  base::store_be(packet.data() + tcp.at + (is_forth ? 0 : 2), connection.port);
}

}  // namespace softdat::tools::run
