// SPDX-License-Identifier: BSD-2-Clause
// Between the port's addresses and the system's.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

#include "hca/types.h"

namespace softdat::verbs {

inline sockaddr_storage socket_address(const hca::Address& address, std::uint16_t port) {
  return to_socket_address(address.with_port(port)).storage;
}

inline std::uint16_t port_of(const sockaddr& address) {
  sockaddr_in inet;  // IPv6 has its port in the same place
  std::memcpy(&inet, &address, sizeof inet);
  return ntohs(inet.sin_port);
}

inline hca::Address address_of(const sockaddr& address) {
  return base::from_socket_address(address).value_or(hca::Address{});
}

}  // namespace softdat::verbs
