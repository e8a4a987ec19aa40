// SPDX-License-Identifier: BSD-2-Clause
#include "transport/shm/local_address.h"

#include <ifaddrs.h>

#include <memory>

namespace softdat::transport::shm {
namespace {

// Which is nobody's.
constexpr std::uint32_t kLoopbackBroadcast = 0x7fff'ffff;

}  // namespace

bool is_local_address(const base::IpAddress& address) {
  // All of 127.0.0.0/8 is the host's; that there is an IPv6 loopback is not said.
  if (!address.is_ipv6() && is_loopback(address)) return address.ipv4 != kLoopbackBroadcast;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return false;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    if (base::from_socket_address(*entry->ifa_addr) == address.with_port(0)) return true;
  }
  return false;
}

}  // namespace softdat::transport::shm
