// SPDX-License-Identifier: BSD-2-Clause
// A code address in words. Slow (it may read debugging information): for failures alone.
#pragma once

#include <string>
#include <string_view>

namespace softdat::base {

// Describes a return address: "main at client.c:17" if the file has debugging information, else "main+0x1c (client)" or
// "client+0x1234"; empty for null. Any thread.
std::string place_text(const void* address);

// ", made by main at client.c:17", for the word "made"; empty if the address is null.
std::string by_text(const char* word, const void* address);

// The part of a path behind its last slash; empty for null.
std::string_view file_name(const char* path);

}  // namespace softdat::base
