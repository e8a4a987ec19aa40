// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/crc32c.h"

#include <algorithm>
#include <array>

#include "base/byte_order.h"
#include "base/made_once.h"
#include "base/ordered_copy.h"
#include "transport/tcp/crc32c_folding.h"
#include "transport/tcp/crc32c_polynomial.h"

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__aarch64__)
#include <arm_acle.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace softdat::transport::tcp {
namespace {

using ByteTable = std::array<std::uint32_t, 256>;
using WordTable = std::array<ByteTable, 4>;

// Eight bytes a step: table n serves the byte that n more bytes follow.
constexpr std::array<ByteTable, 8> make_slicing_tables() {
  std::array<ByteTable, 8> tables{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = multiply_by_x(crc);
    tables[0][i] = crc;
  }
  for (std::size_t n = 1; n < 8; ++n) {
    for (std::size_t i = 0; i < 256; ++i) {
      const std::uint32_t before = tables[n - 1][i];
      tables[n][i] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}
constexpr std::array<ByteTable, 8> kSlicing = make_slicing_tables();

std::uint32_t step_byte(std::uint32_t crc, std::byte byte) {
  return (crc >> 8) ^ kSlicing[0][(crc ^ std::to_integer<std::uint32_t>(byte)) & 0xff];
}

std::uint32_t step_word_portable(std::uint32_t crc, std::uint64_t word) {
  word ^= crc;
  crc = 0;
  for (std::size_t i = 0; i < 8; ++i) crc ^= kSlicing[7 - i][(word >> (8 * i)) & 0xff];
  return crc;
}

}  // namespace

// Inverted before and after, as CRC32C is defined (RFC 3720 section 12.1). So a sum can go on where an earlier one
// ended.
std::uint32_t crc32c_portable(std::uint32_t crc, std::span<const std::byte> bytes) {
  crc = ~crc;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8))
    crc = step_word_portable(crc, base::load_le<std::uint64_t>(bytes.data()));
  for (const std::byte byte : bytes) crc = step_byte(crc, byte);
  return ~crc;
}

#if defined(__x86_64__) || defined(__aarch64__)
namespace {

// The compiler is told function by function what the processor may be asked for, in a literal: hence the macro.
#if defined(__x86_64__)
#define CRC_TARGET __attribute__((target("sse4.2")))
CRC_TARGET inline std::uint64_t step_word(std::uint64_t crc, std::uint64_t word) {
  return _mm_crc32_u64(crc, word);
}
CRC_TARGET inline std::uint32_t step_octet(std::uint32_t crc, std::byte byte) {
  return _mm_crc32_u8(crc, std::to_integer<std::uint8_t>(byte));
}
#else
#define CRC_TARGET __attribute__((target("+crc")))
CRC_TARGET inline std::uint64_t step_word(std::uint64_t crc, std::uint64_t word) {
  return __crc32cd(static_cast<std::uint32_t>(crc), word);
}
CRC_TARGET inline std::uint32_t step_octet(std::uint32_t crc, std::byte byte) {
  return __crc32cb(crc, std::to_integer<std::uint8_t>(byte));
}
#endif

// The instruction takes three cycles but starts every cycle, so three streams run side by side and
// are joined by appending zeros to the earlier ones.
template <std::size_t kBlock>
constexpr WordTable make_zeros_table() {
  WordTable table{};
  const std::uint32_t shift = power_of_x(8 * kBlock);
  for (std::uint32_t n = 0; n < 4; ++n) {
    for (std::uint32_t i = 0; i < 256; ++i) table[n][i] = multiply(shift, i << (8 * n));
  }
  return table;
}

template <std::size_t kBlock>
std::uint32_t append_zeros(std::uint32_t crc) {
  static constexpr WordTable kTable = make_zeros_table<kBlock>();
  return kTable[0][crc & 0xff] ^ kTable[1][(crc >> 8) & 0xff] ^ kTable[2][(crc >> 16) & 0xff] ^ kTable[3][crc >> 24];
}

// A sum under way.
struct Pass {
  std::uint64_t crc;
  std::span<const std::byte> from;
};

template <std::size_t kBlock>
CRC_TARGET void step_blocks(Pass& pass) {
  for (; pass.from.size() >= 3 * kBlock; pass.from = pass.from.subspan(3 * kBlock)) {
    const std::byte* const from = pass.from.data();
    std::uint64_t first = pass.crc;
    std::uint64_t second = 0;
    std::uint64_t third = 0;
    for (std::size_t i = 0; i < kBlock; i += 8) {
      first = step_word(first, base::load_le<std::uint64_t>(from + i));
      second = step_word(second, base::load_le<std::uint64_t>(from + kBlock + i));
      third = step_word(third, base::load_le<std::uint64_t>(from + 2 * kBlock + i));
    }
    first = append_zeros<kBlock>(static_cast<std::uint32_t>(first)) ^ second;
    pass.crc = append_zeros<kBlock>(static_cast<std::uint32_t>(first)) ^ third;
  }
}

CRC_TARGET std::uint32_t run(std::uint32_t start, std::span<const std::byte> from) {
  Pass pass{.crc = static_cast<std::uint32_t>(~start), .from = from};
  step_blocks<2048>(pass);
  step_blocks<128>(pass);
  for (; pass.from.size() >= 8; pass.from = pass.from.subspan(8)) {
    pass.crc = step_word(pass.crc, base::load_le<std::uint64_t>(pass.from.data()));
  }
  auto last = static_cast<std::uint32_t>(pass.crc);
  for (const std::byte byte : pass.from) last = step_octet(last, byte);
  return ~last;
}

}  // namespace

std::uint32_t crc32c_instruction(std::uint32_t crc, std::span<const std::byte> bytes) {
  return run(crc, bytes);
}

bool has_crc32c_instruction() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("sse4.2") != 0;
#else
  return (::getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
#endif
}
#undef CRC_TARGET
#else
std::uint32_t crc32c_instruction(std::uint32_t crc, std::span<const std::byte> bytes) {
  return crc32c_portable(crc, bytes);
}

bool has_crc32c_instruction() {
  return false;
}
#endif

std::uint32_t crc32c_folded(std::uint32_t crc, std::span<const std::byte> bytes) {
  if (bytes.size() >= kLeastFolded) crc = ~fold_crc32c(~crc, bytes);
  return crc32c_instruction(crc, bytes);
}

std::uint32_t crc32c(std::uint32_t crc, std::span<const std::byte> bytes) {
  if (can_fold_crc32c()) return crc32c_folded(crc, bytes);
  static constinit base::FoundOnce<bool> has_instruction;
  return has_instruction.get(has_crc32c_instruction) ? crc32c_instruction(crc, bytes) : crc32c_portable(crc, bytes);
}

std::optional<std::uint32_t> copy_crc32c(std::uint32_t crc, std::byte* to, std::span<const std::byte> from) {
  // The copied bytes are still in the first cache when they are summed up. A multiple of the steps of both ways.
  constexpr std::size_t kBlock = 6 * std::size_t{2048};
  while (!from.empty()) {
    const std::size_t length = std::min(from.size(), kBlock);
    // The sum is over the copy: consumer memory that changes meanwhile cannot make bytes and sum differ.
    if (!base::copy_in(to, from.data(), length)) return std::nullopt;
    crc = crc32c(crc, {to, length});
    to += length;
    from = from.subspan(length);
  }
  return crc;
}

}  // namespace softdat::transport::tcp
