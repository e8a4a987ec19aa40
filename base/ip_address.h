// SPDX-License-Identifier: BSD-2-Clause
// IpAddress: a host's address of either family, and a port, as numbers; and its way to and from the socket API.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>

namespace softdat::base {

// In the order of the wire. `scope` is the interface that a link-local one belongs to, else 0.
struct Ipv6 {
  std::array<std::uint8_t, 16> bytes{};
  std::uint32_t scope = 0;
  friend auto operator<=>(const Ipv6&, const Ipv6&) = default;
};

// One of IPv4 where `ipv6` is all zero; in host byte order. What IPv6 calls a mapped address is one of IPv4 here.
struct IpAddress {
  std::uint32_t ipv4 = 0;
  std::uint16_t port = 0;
  Ipv6 ipv6{};
  friend auto operator<=>(const IpAddress&, const IpAddress&) = default;

  bool is_ipv6() const { return ipv6 != Ipv6{}; }
  bool is_set() const { return ipv4 != 0 || is_ipv6(); }
  IpAddress with_port(std::uint16_t other) const { return {.ipv4 = ipv4, .port = other, .ipv6 = ipv6}; }
};

// Neither nothing nor a group.
bool is_single_host(const IpAddress& address);
bool is_loopback(const IpAddress& address);

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
  const sockaddr* generic() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* generic() { return reinterpret_cast<sockaddr*>(&storage); }
};
SocketAddress to_socket_address(const IpAddress& address);
// Requires as many bytes as the family has; nothing for other families.
std::optional<IpAddress> from_socket_address(const sockaddr& address);

// "10.1.2.3", "::1", "[::1]", "fe80::1%eth0". No names.
std::optional<IpAddress> read_ip_address(const std::string& text);
// The same without brackets and port.
std::string text_of(const IpAddress& address);

}  // namespace softdat::base
