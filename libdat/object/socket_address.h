// SPDX-License-Identifier: BSD-2-Clause
// DAT shows addresses as those of the socket API; the port of RDMA uses plain numbers.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstring>
#include <string>

#include "hca/types.h"

namespace softdat::object {

// Room for either family, as DAT_SOCK_ADDR6 has it; the family, which both have first, tells which.
union SocketAddress {
  sockaddr_in6 inet6{};
  sockaddr_in inet;
};

inline SocketAddress socket_address(const hca::Address& address) {
  const base::SocketAddress from = to_socket_address(address);
  SocketAddress result;
  if (address.is_ipv6()) {
    std::memcpy(&result.inet6, &from.storage, sizeof result.inet6);
  } else {
    std::memcpy(&result.inet, &from.storage, sizeof result.inet);
  }
  return result;
}

// The address in digits; empty for none.
inline std::string address_text(const SocketAddress& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.inet.sin_family == AF_INET) ::inet_ntop(AF_INET, &address.inet.sin_addr, text, sizeof text);
  if (address.inet.sin_family == AF_INET6) ::inet_ntop(AF_INET6, &address.inet6.sin6_addr, text, sizeof text);
  return text;
}

}  // namespace softdat::object
