// SPDX-License-Identifier: BSD-2-Clause
// DAT shows addresses as sockaddr_in; the port of RDMA uses plain numbers.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>

#include "hca/types.h"

namespace softdat::object {

inline sockaddr_in socket_address(hca::Address address) {
  sockaddr_in result{};
  result.sin_family = AF_INET;
  result.sin_port = htons(address.port);
  result.sin_addr.s_addr = htonl(address.ipv4);
  return result;
}

}  // namespace softdat::object
