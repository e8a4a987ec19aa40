// SPDX-License-Identifier: BSD-2-Clause
// The IP address of an adapter as text.
#pragma once

#include <sys/socket.h>

#include <string>

namespace softdat::tools {

// "127.0.0.1" or "::1"; "no address" for a null pointer or another family.
std::string address_text(const sockaddr* address);

// Whether the text is an address that only this host reaches.
bool is_loopback(const std::string& address);

}  // namespace softdat::tools
