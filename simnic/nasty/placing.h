// SPDX-License-Identifier: BSD-2-Clause
// In which order the bytes of one message are placed. DAT promises none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/message.h"

namespace softdat::simnic::nasty {

// Cuts `length` bytes, which go to `target`, into one, two, four or eight pieces. Pieces meet at addresses that are
// multiples of eight, because no adapter tears an aligned word. The pieces are numbered in an order that is not
// ascending and that differs between draws (`order`).
class Pieces {
 public:
  Pieces(std::size_t length, std::uint64_t order, const std::byte* target);

  std::size_t count() const { return count_; }
  struct Piece {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  // The i-th to be placed. The first is that with the last byte.
  Piece at(std::size_t i) const;

 private:
  const std::size_t length_;
  const std::size_t skew_;  // of the first byte, behind an aligned address
  const std::size_t count_;
  const std::size_t size_;    // of each but the last
  const std::size_t stride_;  // odd, so that every piece is met
};

// Copies the piece of `bytes`, the bytes of a message from `offset` on, to where they belong. `slices` are the places
// of all of them. False: memory faults.
[[nodiscard]] bool copy_piece(std::span<const transport::Slice> slices, std::span<const std::byte> bytes,
                              const Pieces::Piece& piece);

}  // namespace softdat::simnic::nasty
