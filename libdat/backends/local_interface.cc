// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/backends/local_interface.h"

#include <strings.h>

#include "base/local_addresses.h"

namespace softdat::backends {

std::optional<base::IpAddress> find_address(const std::string& text) {
  if (const auto literal = base::read_ip_address(text)) return literal;
  // No other host name: a resolver may take long, and what it says of this host is often 127.0.1.1.
  if (::strcasecmp(text.c_str(), "localhost") == 0) return base::read_ip_address("127.0.0.1");
  std::optional<base::IpAddress> best;
  base::for_each_local_address([&](const char* interface, const base::IpAddress& found) {
    if (text == interface && (!best || rank_of(found) < rank_of(*best))) best = found;
  });
  return best;
}

}  // namespace softdat::backends
