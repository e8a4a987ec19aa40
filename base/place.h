// SPDX-License-Identifier: BSD-2-Clause
// A code address in words. Slow (it may read debugging information): for failures alone.
#pragma once

#include <string>

namespace softdat::base {

// Of a return address: "main at client.c:17" where the file has debugging information, else "main+0x1c (client)" or
// "client+0x1234"; empty for null. Any thread.
std::string place_text(const void* address);

}  // namespace softdat::base
