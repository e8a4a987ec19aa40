// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/crc32c.h"

#include <array>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace softdat::transport::tcp {
namespace {

// Bit 31 of these words is x^0: the polynomial and the checksum are bit-reflected.
constexpr std::uint32_t kPolynomial = 0x82f63b78;

constexpr std::uint32_t multiply_by_x(std::uint32_t a) {
  return (a & 1) != 0 ? (a >> 1) ^ kPolynomial : a >> 1;
}

// a * b modulo the polynomial.
constexpr std::uint32_t multiply(std::uint32_t a, std::uint32_t b) {
  std::uint32_t product = 0;
  for (std::uint32_t bit = 1u << 31; bit != 0; bit >>= 1) {
    if ((a & bit) != 0) product ^= b;
    b = multiply_by_x(b);
  }
  return product;
}

// x^(8 * bytes) modulo the polynomial: multiplying by it appends that many zero bytes.
constexpr std::uint32_t zeros(std::size_t bytes) {
  std::uint32_t result = 1u << 31;
  std::uint32_t square = 1u << 23;  // x^8
  for (; bytes != 0; bytes >>= 1) {
    if ((bytes & 1) != 0) result = multiply(result, square);
    square = multiply(square, square);
  }
  return result;
}

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

std::uint64_t load_little_endian(const std::byte* from) {
  std::uint64_t word = 0;
  std::memcpy(&word, from, sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  return word;
}

}  // namespace

std::uint32_t crc32c_portable(std::uint32_t crc, std::span<const std::byte> bytes) {
  crc = ~crc;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    const std::uint64_t word = load_little_endian(bytes.data()) ^ crc;
    crc = 0;
    for (std::size_t i = 0; i < 8; ++i) crc ^= kSlicing[7 - i][(word >> (8 * i)) & 0xff];
  }
  for (const std::byte byte : bytes) crc = step_byte(crc, byte);
  return ~crc;
}

#if defined(__x86_64__)
namespace {

// The instruction takes three cycles but starts every cycle, so three streams run side by side and
// are joined by appending zeros to the earlier ones.
template <std::size_t kBlock>
constexpr WordTable make_zeros_table() {
  WordTable table{};
  const std::uint32_t shift = zeros(kBlock);
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

template <std::size_t kBlock>
__attribute__((target("sse4.2"))) std::uint64_t step_blocks(std::uint64_t crc, std::span<const std::byte>& bytes) {
  while (bytes.size() >= 3 * kBlock) {
    const std::byte* at = bytes.data();
    std::uint64_t second = 0;
    std::uint64_t third = 0;
    for (std::size_t i = 0; i < kBlock; i += 8) {
      crc = _mm_crc32_u64(crc, load_little_endian(at + i));
      second = _mm_crc32_u64(second, load_little_endian(at + kBlock + i));
      third = _mm_crc32_u64(third, load_little_endian(at + 2 * kBlock + i));
    }
    crc = append_zeros<kBlock>(static_cast<std::uint32_t>(crc)) ^ second;
    crc = append_zeros<kBlock>(static_cast<std::uint32_t>(crc)) ^ third;
    bytes = bytes.subspan(3 * kBlock);
  }
  return crc;
}

}  // namespace

__attribute__((target("sse4.2"))) std::uint32_t crc32c_instruction(std::uint32_t start,
                                                                   std::span<const std::byte> bytes) {
  std::uint64_t crc = ~start;
  crc = step_blocks<2048>(crc, bytes);
  crc = step_blocks<128>(crc, bytes);
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) crc = _mm_crc32_u64(crc, load_little_endian(bytes.data()));
  auto last = static_cast<std::uint32_t>(crc);
  for (const std::byte byte : bytes) last = _mm_crc32_u8(last, std::to_integer<std::uint8_t>(byte));
  return ~last;
}

bool has_crc32c_instruction() {
  return __builtin_cpu_supports("sse4.2") != 0;
}
#else
std::uint32_t crc32c_instruction(std::uint32_t crc, std::span<const std::byte> bytes) {
  return crc32c_portable(crc, bytes);
}

bool has_crc32c_instruction() {
  return false;
}
#endif

std::uint32_t crc32c(std::uint32_t crc, std::span<const std::byte> bytes) {
  static const bool has_instruction = has_crc32c_instruction();
  return has_instruction ? crc32c_instruction(crc, bytes) : crc32c_portable(crc, bytes);
}

}  // namespace softdat::transport::tcp
