// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/backends/local_interface.h"

#include <ifaddrs.h>

#include <memory>

namespace softdat::backends {
namespace {

int rank_of(const base::IpAddress& address) {
  if (!address.is_ipv6()) return 0;
  return address.ipv6.scope == 0 ? 1 : 2;
}

}  // namespace

std::optional<base::IpAddress> find_address(const std::string& text) {
  if (const auto literal = base::read_ip_address(text)) return literal;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return std::nullopt;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  std::optional<base::IpAddress> best;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || text != entry->ifa_name) continue;
    const auto found = base::from_socket_address(*entry->ifa_addr);
    if (found && (!best || rank_of(*found) < rank_of(*best))) best = found;
  }
  return best;
}

}  // namespace softdat::backends
