// SPDX-License-Identifier: BSD-2-Clause
// What an atomic request does to its eight bytes. Real atomic instructions: other NICs, other
// processes that map the memory, and the consumer's own atomics are neither torn nor lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "hca/types.h"
#include "transport/message.h"

namespace softdat::simnic {

// Whether the code is one of RFC 7306 section 5.
constexpr bool is_known_atomic(std::uint32_t code) {
  return code <= transport::kCompareSwapCode;
}

// The operation that a consumer's request asks for. The caller fills in key and address.
transport::Message make_atomic(hca::SendOpcode opcode, std::uint64_t operand, std::uint64_t compare);

// `target`: eight bytes, aligned, that may be written. Requires a known code. Returns what they were
// before, in the machine's own order. Nothing: they fault (base/fault_guard.h), and nothing has been done.
std::optional<std::uint64_t> carry_out_atomic(const transport::Message& request, std::byte* target);

}  // namespace softdat::simnic
