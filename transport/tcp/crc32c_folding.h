// SPDX-License-Identifier: BSD-2-Clause
// CRC32C of long runs of bytes by carry-less multiplication, 64 bytes an instruction (VPCLMULQDQ with AVX-512). From
// 1,024 bytes on it is about twice as fast as the CRC32 instruction. Source: V. Gopal and others, "Fast CRC Computation
// for Generic Polynomials Using PCLMULQDQ Instruction", 2009.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace softdat::transport::tcp {

// Whether this processor and the system can do it. Any thread.
bool can_fold_crc32c();

// Fewer bytes than these are not worth the joining of the sums at the end.
inline constexpr std::size_t kLeastFolded = 512;

// Sums up the first bytes of `rest`, a multiple of 256, and takes them off. `crc` as it stands within a sum (not
// inverted); returns the next one. REQUIRES: can_fold_crc32c(), and `rest` has kLeastFolded bytes or more. Any thread.
std::uint32_t fold_crc32c(std::uint32_t crc, std::span<const std::byte>& rest);

}  // namespace softdat::transport::tcp
