// SPDX-License-Identifier: BSD-2-Clause
#include "transport/shm/local_address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <cstring>

namespace softdat::transport::shm {
namespace {

// Which is nobody's.
constexpr std::uint32_t kLoopbackBroadcast = 0x7fff'ffff;

}  // namespace

bool is_local_address(std::uint32_t ipv4) {
  if (ipv4 >> 24 == 127) return ipv4 != kLoopbackBroadcast;
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return false;
  bool is_found = false;
  for (const ifaddrs* entry = first; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || entry->ifa_addr->sa_family != AF_INET) continue;
    sockaddr_in address;
    std::memcpy(&address, entry->ifa_addr, sizeof address);
    is_found |= ntohl(address.sin_addr.s_addr) == ipv4;
  }
  ::freeifaddrs(first);
  return is_found;
}

}  // namespace softdat::transport::shm
