// SPDX-License-Identifier: BSD-2-Clause
// The words in which entry points check their arguments and refuse them.
//
// All functions run on any thread and hold no lock when they return. They return what the entry point returns to the
// program: a DAT_RETURN of the API that the file is compiled for, with type and subtype. None changes an object.
#pragma once

#include <cstdint>
#include <cstring>
#include <new>

#include "base/uncancelled.h"
#include "libdat/api/abi.h"
#include "libdat/api/return_code.h"
#include "libdat/object/handle_table.h"
#include "libdat/object/status.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {

using object::Handle;
using object::pin_handle;
using object::Status;
using object::StatusDetail;

// What a call on an EVD answers to a handle that is none: the registries answer the same.
inline constexpr StatusDetail kEvdHandle =
    kIsAbi20 ? StatusDetail::kInvalidHandleEvdRequest : StatusDetail::kInvalidHandle1;

// Returns DAT_INVALID_HANDLE. `handle` gives the subtype.
inline DAT_RETURN refuse_handle(StatusDetail handle) {
  return return_code(object::invalid_handle(handle));
}

// `number` counts the function's arguments from 1.
constexpr StatusDetail argument(int number) {
  return static_cast<StatusDetail>(static_cast<int>(StatusDetail::kInvalidArg1) + number - 1);
}

// Returns DAT_INVALID_PARAMETER. `number` counts the arguments from 1.
inline DAT_RETURN refuse_argument(int number) {
  return return_code(object::invalid_parameter(argument(number)));
}

// DAT_NOT_IMPLEMENTED.
inline DAT_RETURN refuse_function() {
  return return_code(object::not_implemented());
}

// An enum argument as the number it is. Taken as bytes: a consumer can pass any number, and to load
// one as an enum that has no such enumerator is undefined.
template <typename Enum>
std::uint32_t number_of(const Enum& value) {
  static_assert(sizeof(Enum) == sizeof(std::uint32_t));
  std::uint32_t number = 0;
  std::memcpy(&number, &value, sizeof(number));
  return number;
}

// Whether flags have bits beside `known`. For enums; masks of 64 bits have a function of their own below.
template <typename Enum>
bool has_unknown_bits(const Enum& flags, std::uint32_t known) {
  return (number_of(flags) & ~known) != 0;
}

constexpr bool has_unknown_mask_bits(std::uint64_t mask, std::uint64_t known) {
  return (mask & ~known) != 0;
}

// Makes `call`, which returns a Status. std::bad_alloc becomes DAT_INSUFFICIENT_RESOURCES; `call` may throw nothing
// else. The thread is not cancelled meanwhile.
template <typename Call>
DAT_RETURN answer_of(const Call& call) {
  const base::Uncancelled guard;
  try {
    return return_code(call());
  } catch (const std::bad_alloc&) {
    return return_code(object::insufficient_resources(StatusDetail::kResourceMemory));
  }
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
