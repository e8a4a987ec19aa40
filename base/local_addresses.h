// SPDX-License-Identifier: BSD-2-Clause
// The IP addresses of this host's network interfaces.
#pragma once

#include <ifaddrs.h>

#include <memory>

#include "base/ip_address.h"

namespace softdat::base {

// Calls act(name of the interface, IpAddress with port 0) for each, as the system lists them; not at all when the
// system does not tell. Asks the kernel; not for a data path. Throws what act() throws.
template <typename Act>
void for_each_local_address(Act act) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    if (const auto address = from_socket_address(*entry->ifa_addr)) act(entry->ifa_name, *address);
  }
}

// Whether it is loopback or one of these addresses; the port does not matter.
bool is_local_address(const IpAddress& address);

inline bool is_link_local(const IpAddress& address) {
  return address.ipv6.scope != 0;
}

// The lower, the sooner a host is called by this address: IPv4, IPv6, link-local.
int rank_of(const IpAddress& address);

}  // namespace softdat::base
