// SPDX-License-Identifier: BSD-2-Clause
// DAT shows addresses as those of the socket API; the port of RDMA uses plain numbers.
#pragma once

#include <netinet/in.h>

#include <cstring>

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

}  // namespace softdat::object
