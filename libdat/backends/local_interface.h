// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace softdat::backends {

// The IPv4 address that `text` spells, or that the interface of this name has; in host byte order.
std::optional<std::uint32_t> find_ipv4(const std::string& text);

// "192.168.1.5"
std::string ipv4_text(std::uint32_t ipv4);

}  // namespace softdat::backends
