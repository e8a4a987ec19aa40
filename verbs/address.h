// SPDX-License-Identifier: BSD-2-Clause
// Between the port's addresses and the system's.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

#include "hca/types.h"

namespace softdat::verbs {

inline sockaddr_storage socket_address(hca::Address address, std::uint16_t port) {
  sockaddr_in inet{};
  inet.sin_family = AF_INET;
  inet.sin_port = htons(port);
  inet.sin_addr.s_addr = htonl(address.ipv4);
  sockaddr_storage result{};
  std::memcpy(&result, &inet, sizeof inet);
  return result;
}

inline sockaddr_storage with_port(sockaddr_storage address, std::uint16_t port) {
  sockaddr_in inet;  // IPv6 has its port in the same place
  std::memcpy(&inet, &address, sizeof inet);
  inet.sin_port = htons(port);
  std::memcpy(&address, &inet, sizeof inet);
  return address;
}

inline std::uint16_t port_of(const sockaddr& address) {
  sockaddr_in inet;  // IPv6 has its port in the same place
  std::memcpy(&inet, &address, sizeof inet);
  return ntohs(inet.sin_port);
}

inline hca::Address address_of(const sockaddr& address) {
  sockaddr_in inet;
  std::memcpy(&inet, &address, sizeof inet);
  return {.ipv4 = ntohl(inet.sin_addr.s_addr), .port = ntohs(inet.sin_port)};
}

// Out of the reach of an adapter that is not itself there, whatever the kernel's resolution says.
inline bool is_loopback(hca::Address address) {
  return (address.ipv4 >> 24) == 127;
}

// Class D and above name no single host.
inline bool is_single_host(hca::Address address) {
  return address.ipv4 != 0 && address.ipv4 < 0xe000'0000;
}

}  // namespace softdat::verbs
