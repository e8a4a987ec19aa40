// SPDX-License-Identifier: BSD-2-Clause
#include "base/ip_address.h"

#include <arpa/inet.h>
#include <net/if.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace softdat::base {
namespace {

constexpr std::uint32_t kFirstGroup = 0xe000'0000;  // class D and above
constexpr std::uint8_t kGroupByte = 0xff;

IpAddress from_ipv6(const in6_addr& address, std::uint32_t scope, std::uint16_t port) {
  // One address has one form here, so that addresses compare equal however a socket reports them.
  if (IN6_IS_ADDR_V4MAPPED(&address)) {
    std::uint32_t ipv4;
    std::memcpy(&ipv4, address.s6_addr + 12, sizeof ipv4);
    return {.ipv4 = ntohl(ipv4), .port = port};
  }
  IpAddress result{.port = port};
  std::copy_n(address.s6_addr, result.ipv6.bytes.size(), result.ipv6.bytes.begin());
  // Only link-local addresses are ambiguous without the interface; the kernel may report a scope for others too.
  if (IN6_IS_ADDR_LINKLOCAL(&address)) result.ipv6.scope = scope;
  return result;
}

// An interface's name or number; 0 where there is none.
std::uint32_t read_scope(const std::string& text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  return ::if_nametoindex(text.c_str());
}

// RFC 4007 section 11: "%" and an interface, by name or number, follow a link-local address.
std::optional<IpAddress> read_ipv6(const std::string& text) {
  const std::size_t percent = text.find('%');
  in6_addr literal;
  if (::inet_pton(AF_INET6, text.substr(0, percent).c_str(), &literal) != 1) return std::nullopt;
  std::uint32_t scope = 0;
  if (percent != std::string::npos) {
    scope = read_scope(text.substr(percent + 1));
    if (scope == 0) return std::nullopt;
  }
  return from_ipv6(literal, scope, 0);
}

}  // namespace

bool is_single_host(const IpAddress& address) {
  if (address.is_ipv6()) return address.ipv6.bytes[0] != kGroupByte;
  return address.ipv4 != 0 && address.ipv4 < kFirstGroup;
}

bool is_loopback(const IpAddress& address) {
  if (!address.is_ipv6()) return address.ipv4 >> 24 == 127;
  return std::equal(address.ipv6.bytes.begin(), address.ipv6.bytes.end(), in6addr_loopback.s6_addr);
}

// By memcpy, because sockaddr_storage may not be accessed as another type.
SocketAddress to_socket_address(const IpAddress& address) {
  SocketAddress result;
  if (address.is_ipv6()) {
    sockaddr_in6 inet{};
    inet.sin6_family = AF_INET6;
    inet.sin6_port = htons(address.port);
    inet.sin6_scope_id = address.ipv6.scope;
    std::copy(address.ipv6.bytes.begin(), address.ipv6.bytes.end(), inet.sin6_addr.s6_addr);
    std::memcpy(&result.storage, &inet, sizeof inet);
    result.length = sizeof inet;
    return result;
  }
  sockaddr_in inet{};
  inet.sin_family = AF_INET;
  inet.sin_port = htons(address.port);
  inet.sin_addr.s_addr = htonl(address.ipv4);
  std::memcpy(&result.storage, &inet, sizeof inet);
  result.length = sizeof inet;
  return result;
}

std::optional<IpAddress> from_socket_address(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    sockaddr_in inet;
    std::memcpy(&inet, &address, sizeof inet);
    return IpAddress{.ipv4 = ntohl(inet.sin_addr.s_addr), .port = ntohs(inet.sin_port)};
  }
  if (address.sa_family != AF_INET6) return std::nullopt;
  sockaddr_in6 inet;
  std::memcpy(&inet, &address, sizeof inet);
  return from_ipv6(inet.sin6_addr, inet.sin6_scope_id, ntohs(inet.sin6_port));
}

std::optional<IpAddress> read_ip_address(const std::string& text) {
  in_addr literal;
  if (::inet_pton(AF_INET, text.c_str(), &literal) == 1) return IpAddress{.ipv4 = ntohl(literal.s_addr)};
  const bool has_brackets = text.size() > 2 && text.front() == '[' && text.back() == ']';
  return read_ipv6(has_brackets ? text.substr(1, text.size() - 2) : text);
}

std::string text_of(const IpAddress& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (!address.is_ipv6()) {
    const in_addr inet{htonl(address.ipv4)};
    ::inet_ntop(AF_INET, &inet, text, sizeof text);
    return text;
  }
  ::inet_ntop(AF_INET6, address.ipv6.bytes.data(), text, sizeof text);
  if (address.ipv6.scope == 0) return text;
  char name[IF_NAMESIZE] = "";
  const bool is_named = ::if_indextoname(address.ipv6.scope, name) != nullptr;
  return std::string(text) + "%" + (is_named ? name : std::to_string(address.ipv6.scope));
}

}  // namespace softdat::base
