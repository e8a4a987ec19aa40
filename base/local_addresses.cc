// SPDX-License-Identifier: BSD-2-Clause
#include "base/local_addresses.h"

namespace softdat::base {
namespace {

// 127.255.255.255, which is no address of a host.
constexpr std::uint32_t kLoopbackBroadcast = 0x7fff'ffff;

}  // namespace

bool is_local_address(const IpAddress& address) {
  // All of 127.0.0.0/8 is the host's; that there is an IPv6 loopback is not said.
  if (!address.is_ipv6() && is_loopback(address)) return address.ipv4 != kLoopbackBroadcast;
  bool is_local = false;
  for_each_local_address([&](const char*, const IpAddress& local) { is_local |= local == address.with_port(0); });
  return is_local;
}

int rank_of(const IpAddress& address) {
  if (!address.is_ipv6()) return 0;
  return is_link_local(address) ? 2 : 1;
}

}  // namespace softdat::base
