// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/nasty/placing.h"

#include <algorithm>
#include <bit>

#include "base/ordered_copy.h"

namespace softdat::simnic::nasty {
namespace {

constexpr std::size_t kWord = 8;
constexpr std::size_t kMostPieces = 8;

std::size_t words_of(std::size_t length) {
  return (length + kWord - 1) / kWord;
}

std::size_t count_of(std::size_t length) {
  return std::bit_floor(std::clamp<std::size_t>(words_of(length), 1, kMostPieces));
}

}  // namespace

Pieces::Pieces(std::size_t length, std::uint64_t order, const std::byte* target)
    : length_(length),
      skew_(reinterpret_cast<std::uintptr_t>(target) % kWord),
      count_(count_of(skew_ + length)),
      // Pieces end at words of the target, so no word is torn.
      size_(words_of(skew_ + length) / count_ * kWord),
      stride_((order % kMostPieces) | 1) {}

Pieces::Piece Pieces::at(std::size_t i) const {
  // The count is a power of two and the stride odd, so each piece comes once. The last piece comes first.
  const std::size_t number = (count_ - 1 + i * stride_) % count_;
  const std::size_t begin = number == 0 ? 0 : number * size_ - skew_;
  return {begin, number + 1 == count_ ? length_ : (number + 1) * size_ - skew_};
}

bool copy_piece(std::span<const transport::Slice> slices, std::span<const std::byte> bytes,
                const Pieces::Piece& piece) {
  std::size_t at = 0;  // of the slice, in the message
  for (const transport::Slice& slice : slices) {
    const std::size_t begin = std::max(at, piece.begin);
    const std::size_t end = std::min({at + slice.length, piece.end, bytes.size()});
    if (begin < end && !base::copy_ordered(slice.data + (begin - at), bytes.data() + begin, end - begin)) return false;
    at += slice.length;
  }
  return true;
}

}  // namespace softdat::simnic::nasty
