// SPDX-License-Identifier: BSD-2-Clause
// Arithmetic modulo the polynomial of CRC32C. Bit 31 of these words is x^0: the polynomial and the checksum are
// bit-reflected.
#pragma once

#include <cstddef>
#include <cstdint>

namespace softdat::transport::tcp {

inline constexpr std::uint32_t kPolynomial = 0x82f63b78;

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

// x^n modulo the polynomial.
constexpr std::uint32_t power_of_x(std::size_t n) {
  std::uint32_t result = 1u << 31;
  std::uint32_t square = 1u << 30;
  for (; n != 0; n >>= 1) {
    if ((n & 1) != 0) result = multiply(result, square);
    square = multiply(square, square);
  }
  return result;
}

}  // namespace softdat::transport::tcp
