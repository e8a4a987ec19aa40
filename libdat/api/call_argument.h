// SPDX-License-Identifier: BSD-2-Clause
// The arguments of a call, as far as they can be told to a person: numbers, pointers and handles, never what lies
// behind a pointer of the consumer's.
#pragma once

#include <cstdint>
#include <type_traits>

namespace softdat::api {

struct CallArgument {
  enum class Type : std::uint8_t { kNumber, kPointer, kHandle, kOther };
  Type type = Type::kOther;
  std::uint64_t bits = 0;  // of a negative number: as of the signed one
  bool is_signed = false;
};

template <typename T>
CallArgument argument_of(T value) {
  if constexpr (std::is_integral_v<T>) {
    return {CallArgument::Type::kNumber, static_cast<std::uint64_t>(value), std::is_signed_v<T>};
  } else if constexpr (std::is_enum_v<T>) {
    // A consumer may pass a number that the enumeration does not have.
    static_assert(sizeof(T) == sizeof(std::uint32_t));
    return {CallArgument::Type::kNumber, __builtin_bit_cast(std::uint32_t, value), false};
  } else if constexpr (std::is_same_v<std::remove_cv_t<T>, void*>) {
    return {CallArgument::Type::kHandle, reinterpret_cast<std::uintptr_t>(value), false};
  } else if constexpr (std::is_pointer_v<T>) {
    return {CallArgument::Type::kPointer, reinterpret_cast<std::uintptr_t>(value), false};
  } else {
    return {};
  }
}

}  // namespace softdat::api
