// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstring>

namespace softdat::tools {

std::string address_text(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN] = "no address";
  if (address != nullptr && address->sa_family == AF_INET) {
    sockaddr_in inet;
    std::memcpy(&inet, address, sizeof inet);
    ::inet_ntop(AF_INET, &inet.sin_addr, text, sizeof text);
  }
  if (address != nullptr && address->sa_family == AF_INET6) {
    sockaddr_in6 inet;
    std::memcpy(&inet, address, sizeof inet);
    ::inet_ntop(AF_INET6, &inet.sin6_addr, text, sizeof text);
  }
  return text;
}

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1";
}

}  // namespace softdat::tools
