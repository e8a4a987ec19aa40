// SPDX-License-Identifier: BSD-2-Clause
// CRC32C (Castagnoli), which MPA puts behind every FPDU (RFC 5044 section 4.4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace softdat::transport::tcp {

// Goes on from `crc`, the checksum of what stands before `bytes` (0 at the start). Takes the
// fastest way that the processor has. Any thread.
std::uint32_t crc32c(std::uint32_t crc, std::span<const std::byte> bytes);

// Copies, and sums up the copy, so that the sum is right even if `from` changes meanwhile. The two must not overlap.
// Nothing: `from` faults (base/ordered_copy.h).
std::optional<std::uint32_t> copy_crc32c(std::uint32_t crc, std::byte* to, std::span<const std::byte> from);

// The ways these choose from, for tests. REQUIRES: has_crc32c_instruction() for the second, can_fold_crc32c()
// (crc32c_folding.h) for the third.
std::uint32_t crc32c_portable(std::uint32_t crc, std::span<const std::byte> bytes);
std::uint32_t crc32c_instruction(std::uint32_t crc, std::span<const std::byte> bytes);
std::uint32_t crc32c_folded(std::uint32_t crc, std::span<const std::byte> bytes);
bool has_crc32c_instruction();

}  // namespace softdat::transport::tcp
