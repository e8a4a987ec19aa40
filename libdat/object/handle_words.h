// SPDX-License-Identifier: BSD-2-Clause
// Describes a handle that cannot be used, in words.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace softdat::object {

class InterfaceAdapter;
class Object;

// "that of an EP, made by main at a.c:5, that was freed by main at a.c:9". `ia`: the adapter that the call works on;
// null: none, or not known. Any thread. Throws std::bad_alloc.
std::string handle_text(const void* handle, const InterfaceAdapter* ia);

// The live objects of the consumer that belong to the adapter, without `handle`: "EP 0x7f0010, made by main at a.c:5;
// LMR ...". For an adapter that cannot be closed, or a zone that cannot be freed. Empty: none.
std::string objects_text(const InterfaceAdapter& ia, const void* handle);

// "EP 0x7f0010".
std::string object_text(const Object& object);

// Whether an object is listed. May set `note`, which stands in brackets behind the object. `maker`: where it was made.
using IsListed = std::function<bool(const Object&, const void* maker, std::string& note)>;

// "EP 0x7f0010 (request events), made by main at a.c:5; ..." of the live objects for which `is_listed` returns true.
// Beyond `most` only their number: "; and 3 more". Any thread. Throws std::bad_alloc.
std::string list_live(int most, const IsListed& is_listed);

// "the range asked for is [0x10, 0x20), 16 bytes, but lmr_context 0x5 is that of the region [0x10, 0x18), 8 bytes, made
// by main at a.c:5", or that the context is of no live LMR of the adapter. Any thread. Throws std::bad_alloc.
std::string segment_text(const InterfaceAdapter& ia, std::uint32_t lmr_context, std::uint64_t address,
                         std::uint64_t length);

}  // namespace softdat::object
