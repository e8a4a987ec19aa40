// SPDX-License-Identifier: BSD-2-Clause
// The lines of SOFTDAT_LOG=trace: which call the program made, with what, what it returned and how long it took.
//
// Used only while calls are traced, so it may allocate. Runs on the thread of the call, after the call has returned and
// with no lock held. Failure is silent: a line for which there is no memory is left out.
#pragma once

#include <string_view>
#include <type_traits>

#include "base/clock.h"
#include "libdat/api/abi.h"
#include "libdat/api/call_line.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {

// "DAT_DTO_COMPLETION_EVENT of ep 0x1000005, cookie 0x7, 8 bytes, DAT_DTO_SUCCESS".
std::string event_text(const DAT_EVENT& event);
// The segments of an I/O vector; reads `count` of them. REQUIRES: a vector that a call has accepted.
std::string segments_text(const DAT_LMR_TRIPLET* segments, DAT_COUNT count);
std::string range_text(const DAT_RMR_TRIPLET& range);

// What the text of an argument may look at. Memory of the consumer's is read only after a success: of a refused call it
// may be what the call was refused for.
struct CallFacts {
  bool is_successful;
  DAT_COUNT segments;  // the last number among the arguments before
};

// Arguments that are printed as a number.
template <typename T>
concept Number = std::is_integral_v<T> || std::is_enum_v<T>;

// What the call has stored, or nothing.
template <typename T>
void add_stored(api::CallLine& line, const T* value, const CallFacts& facts) {
  if (value == nullptr) return line.add("null");
  if (!facts.is_successful) return line.add("-");
  if constexpr (std::is_pointer_v<T>) {
    line.add(api::pointer_text(*value));
  } else {
    line.add_number(static_cast<std::uint64_t>(*value), std::is_signed_v<T>);
  }
}

// Adds one argument in the words of its type, and remembers numbers: a vector is as long as the number before it.
template <typename T>
void add_argument(api::CallLine& line, CallFacts& facts, const T& value) {
  if constexpr (Number<T>) {
    facts.segments = static_cast<DAT_COUNT>(value);
    line.add_number(static_cast<std::uint64_t>(value), std::is_signed_v<T>);
  } else if constexpr (std::is_same_v<T, DAT_EVENT*>) {
    const bool is_there = facts.is_successful && value != nullptr;
    line.add(is_there ? event_text(*value) : api::pointer_text(value));
  } else if constexpr (std::is_same_v<T, DAT_LMR_TRIPLET*>) {
    line.add(facts.is_successful ? segments_text(value, facts.segments) : api::pointer_text(value));
  } else if constexpr (std::is_same_v<T, const DAT_RMR_TRIPLET*> || std::is_same_v<T, DAT_RMR_TRIPLET*>) {
    line.add(facts.is_successful && value != nullptr ? range_text(*value) : api::pointer_text(value));
  } else if constexpr (std::is_same_v<T, DAT_NAME_PTR>) {
    line.add(facts.is_successful && value != nullptr ? '"' + std::string(value) + '"' : api::pointer_text(value));
  } else if constexpr (std::is_same_v<T, DAT_DTO_COOKIE>) {
    line.add(api::hex_text(value.as_64));
  } else if constexpr (std::is_same_v<T, DAT_REGION_DESCRIPTION>) {
    line.add(api::pointer_text(value.for_va));
  } else if constexpr (std::is_pointer_v<T> && !std::is_void_v<std::remove_pointer_t<T>> &&
                       !std::is_function_v<std::remove_pointer_t<T>> &&
                       (std::is_pointer_v<std::remove_pointer_t<T>> || Number<std::remove_pointer_t<T>>)) {
    add_stored(line, value, facts);
  } else if constexpr (std::is_pointer_v<T>) {
    line.add(api::pointer_text(reinterpret_cast<const void*>(value)));
  } else {
    line.add("...");
  }
}

// What an extended operation takes cannot be looked at twice.
inline void add_argument(api::CallLine& line, CallFacts&, va_list) {
  line.add("...");
}

// Prints the line. A dequeue that finds nothing is only counted (api::is_traced). `signature`: the call with the names
// of its arguments. `began`: when the call began. `caller`: the return address of the call. Any thread.
template <typename... Arguments>
void trace_call(std::string_view signature, base::Time began, DAT_RETURN answer, const void* caller,
                Arguments... arguments) try {
  if (!api::is_traced(signature, answer)) return;
  const base::Duration took = base::Clock::now() - began;
  api::CallLine line(signature);
  CallFacts facts{.is_successful = answer == DAT_SUCCESS, .segments = 1};
  (add_argument(line, facts, arguments), ...);
  line.print(answer, took, caller);
} catch (const std::bad_alloc&) {
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
