// SPDX-License-Identifier: BSD-2-Clause
// IpAddress: an IPv4 or IPv6 address with a port, and its conversion from and to text and the socket API.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>

namespace softdat::base {

// `bytes` are in network order. `scope` is the interface index of a link-local address, else 0.
struct Ipv6 {
  std::array<std::uint8_t, 16> bytes{};
  std::uint32_t scope = 0;
  friend auto operator<=>(const Ipv6&, const Ipv6&) = default;
};

// An IPv4 address if `ipv6` is all zero, else an IPv6 address. `ipv4` and `port` are in host byte order. An IPv4-mapped
// IPv6 address is stored as IPv4.
struct IpAddress {
  std::uint32_t ipv4 = 0;
  std::uint16_t port = 0;
  Ipv6 ipv6{};
  friend auto operator<=>(const IpAddress&, const IpAddress&) = default;

  bool is_ipv6() const { return ipv6 != Ipv6{}; }
  bool is_set() const { return ipv4 != 0 || is_ipv6(); }
  IpAddress with_port(std::uint16_t other) const { return {.ipv4 = ipv4, .port = other, .ipv6 = ipv6}; }
};

// Neither the unspecified address nor a multicast group.
bool is_single_host(const IpAddress& address);
bool is_loopback(const IpAddress& address);

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
  const sockaddr* generic() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* generic() { return reinterpret_cast<sockaddr*>(&storage); }
};
SocketAddress to_socket_address(const IpAddress& address);
// REQUIRES: `address` has all bytes of its family. Empty for families other than IPv4 and IPv6.
std::optional<IpAddress> from_socket_address(const sockaddr& address);

// Reads "10.1.2.3", "::1", "[::1]" or "fe80::1%eth0". Empty for anything else; host names are not looked up.
std::optional<IpAddress> read_ip_address(const std::string& text);
// The address as text, without brackets and port.
std::string text_of(const IpAddress& address);

}  // namespace softdat::base
