// SPDX-License-Identifier: BSD-2-Clause
// The frame around a ULPDU: two bytes of length, the ULPDU, padding to four, four bytes of CRC
// (zeros where none was agreed). RFC 5044 section 4; markers are never used.
#pragma once

#include <cstddef>
#include <cstdint>

namespace softdat::transport::tcp {

inline constexpr std::size_t kLengthSize = 2;
inline constexpr std::size_t kCrcSize = 4;
inline constexpr std::size_t kMaxUlpdu = 65535;
// Stands in the CRC field, where none was agreed, of a last FPDU whose payload the sender could not read to its end.
inline constexpr std::uint32_t kVoidMark = 0xffffffff;

constexpr std::size_t pad_of(std::size_t ulpdu_length) {
  return (4 - (kLengthSize + ulpdu_length) % 4) % 4;
}

// What stands behind the ULPDU.
constexpr std::size_t trailer_of(std::size_t ulpdu_length) {
  return pad_of(ulpdu_length) + kCrcSize;
}

constexpr std::size_t fpdu_size(std::size_t ulpdu_length) {
  return kLengthSize + ulpdu_length + trailer_of(ulpdu_length);
}

inline constexpr std::size_t kMaxTrailer = 3 + kCrcSize;
inline constexpr std::size_t kMaxFpdu = fpdu_size(kMaxUlpdu);

// The largest ULPDU whose FPDU fits in `bytes`, of at least 64.
constexpr std::size_t ulpdu_within(std::size_t bytes) {
  const std::size_t usable = bytes - bytes % 4 - kLengthSize - kCrcSize;
  return usable < kMaxUlpdu ? usable : kMaxUlpdu;
}

}  // namespace softdat::transport::tcp
