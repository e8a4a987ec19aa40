// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/atomic_operation.h"

#include "base/guarded_atomic.h"
#include "base/ordered_copy.h"

namespace softdat::simnic {
namespace {

// A bit of the mask is the highest of its field: what it carries is lost, so that one word can hold
// several sums.
std::uint64_t add_in_fields(std::uint64_t value, std::uint64_t addend, std::uint64_t mask) {
  return ((value & ~mask) + (addend & ~mask)) ^ ((value ^ addend) & mask);
}

// CmpSwap stores the masked bits if the compared ones are equal. Swap (code 1) has no condition.
std::uint64_t next_value(const transport::Message& request, std::uint64_t value) {
  if (request.atomic_code == transport::kFetchAddCode) {
    return add_in_fields(value, request.operand, request.operand_mask);
  }
  const bool is_conditional = request.atomic_code == transport::kCompareSwapCode;
  if (is_conditional && ((value ^ request.compare) & request.compare_mask) != 0) return value;
  return (value & ~request.operand_mask) | (request.operand & request.operand_mask);
}

}  // namespace

transport::Message make_atomic(hca::SendOpcode opcode, std::uint64_t operand, std::uint64_t compare) {
  const bool is_add = opcode == hca::SendOpcode::kFetchAdd;
  // A mask of zeros makes FetchAdd a plain addition of 64 bits; one of ones makes CmpSwap compare and exchange all
  // bits.
  const std::uint64_t all = is_add ? 0 : ~std::uint64_t{0};
  return {.opcode = transport::Opcode::kAtomicRequest,
          .atomic_code = is_add ? transport::kFetchAddCode : transport::kCompareSwapCode,
          .operand = operand,
          .operand_mask = all,
          .compare = compare,
          .compare_mask = all};
}

std::optional<std::uint64_t> carry_out_atomic(const transport::Message& request, std::byte* target) {
  std::uint64_t value = 0;
  if (request.atomic_code == transport::kFetchAddCode && request.operand_mask == 0) {
    value = request.operand;
    return base::fetch_add(target, value) ? std::optional(value) : std::nullopt;
  }
  // Masked atomics of RFC 7306 have no instruction. Compute the new word and exchange it, until no other thread has
  // stored in between.
  if (!base::copy_in(reinterpret_cast<std::byte*>(&value), target, sizeof value)) return std::nullopt;
  for (;;) {
    const std::uint64_t expected = value;
    if (!base::compare_exchange(target, value, next_value(request, expected))) return std::nullopt;
    if (value == expected) return value;
  }
}

}  // namespace softdat::simnic
