// SPDX-License-Identifier: BSD-2-Clause
// A handle in words, for a consumer who gave one that cannot be used.
#pragma once

#include <string>

namespace softdat::object {

class InterfaceAdapter;

// "that of an EP, made by main at a.c:5, that was freed by main at a.c:9". `ia`: the adapter that the call works on;
// null: none, or not known. Any thread. Throws std::bad_alloc.
std::string handle_text(const void* handle, const InterfaceAdapter* ia);

// Of an adapter that cannot be closed, or a zone that cannot be freed: "EP (made by main at a.c:5), LMR (...)", the
// live objects of the consumer's besides `handle` that belong to that adapter. Empty: none.
std::string objects_text(const InterfaceAdapter& ia, const void* handle);

}  // namespace softdat::object
