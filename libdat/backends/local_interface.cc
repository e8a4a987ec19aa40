// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/backends/local_interface.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <cstring>
#include <memory>

namespace softdat::backends {
namespace {

std::uint32_t ipv4_of(const sockaddr& address) {
  sockaddr_in inet;
  std::memcpy(&inet, &address, sizeof inet);
  return ntohl(inet.sin_addr.s_addr);
}

bool is_ipv4_of(const ifaddrs& entry, const std::string& name) {
  return entry.ifa_addr != nullptr && entry.ifa_addr->sa_family == AF_INET && name == entry.ifa_name;
}

}  // namespace

std::optional<std::uint32_t> find_ipv4(const std::string& text) {
  in_addr literal;
  if (::inet_pton(AF_INET, text.c_str(), &literal) == 1) return ntohl(literal.s_addr);
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return std::nullopt;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (is_ipv4_of(*entry, text)) return ipv4_of(*entry->ifa_addr);
  }
  return std::nullopt;
}

std::string ipv4_text(std::uint32_t ipv4) {
  const in_addr address{htonl(ipv4)};
  char text[INET_ADDRSTRLEN] = "";
  ::inet_ntop(AF_INET, &address, text, sizeof text);
  return text;
}

}  // namespace softdat::backends
