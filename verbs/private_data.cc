// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/private_data.h"

#include <algorithm>

namespace softdat::verbs {
namespace {

// "SD", what follows, and its number.
constexpr std::byte kFirst{0x53};
constexpr std::byte kSecond{0x44};
constexpr std::byte kLength{0x4c};
constexpr std::byte kRefusal{0x52};
constexpr std::size_t kMarkSize = 4;
constexpr std::array<std::byte, kMarkSize> kRefusalMark{kFirst, kSecond, kRefusal, std::byte{0}};

}  // namespace

// InfiniBand: the data, zeros up to byte 52, then "SDL" and the length. iWARP: the data.
OutgoingPrivateData::OutgoingPrivateData(std::span<const std::byte> data, bool is_iwarp) {
  std::copy(data.begin(), data.end(), bytes_.begin());
  size_ = static_cast<std::uint8_t>(data.size());
  if (is_iwarp) return;
  const std::array<std::byte, kMarkSize> mark{kFirst, kSecond, kLength, std::byte{size_}};
  std::copy(mark.begin(), mark.end(), bytes_.begin() + kMostOnInfiniBand);
  size_ = kMostOnInfiniBand + kMarkSize;
}

// A foreign peer's data lack the mark, and are passed on with their zeros.
hca::Bytes incoming_private_data(const hca::Bytes& carried, bool is_iwarp) {
  if (is_iwarp || carried.size() < kMostOnInfiniBand + kMarkSize) return carried;
  const auto mark = carried.begin() + kMostOnInfiniBand;
  const bool is_ours = mark[0] == kFirst && mark[1] == kSecond && mark[2] == kLength;
  const auto length = static_cast<std::size_t>(mark[3]);
  if (!is_ours || length > kMostOnInfiniBand) return carried;
  return {carried.begin(), carried.begin() + static_cast<std::ptrdiff_t>(length)};
}

std::span<const std::byte> refusal_mark() {
  return kRefusalMark;
}

bool is_refusal_mark(const hca::Bytes& carried) {
  return std::equal(carried.begin(), carried.end(), kRefusalMark.begin(), kRefusalMark.end());
}

}  // namespace softdat::verbs
