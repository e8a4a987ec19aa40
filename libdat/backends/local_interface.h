// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>

#include "base/ip_address.h"

namespace softdat::backends {

// The IPv4 or IPv6 address that `text` spells, or that the interface of this name has: one of IPv4 before one of IPv6,
// and a link-local one last.
std::optional<base::IpAddress> find_address(const std::string& text);

}  // namespace softdat::backends
