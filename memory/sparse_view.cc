// SPDX-License-Identifier: BSD-2-Clause
#include "memory/sparse_view.h"

#include <sys/mman.h>

#include <algorithm>

namespace softdat::memory {

SparseView::SparseView(int file, std::uint64_t offset, std::size_t length, Rights rights)
    : length_(length),
      rights_(rights),
      view_(file, offset, length, Rights::kNone),
      open_(std::make_unique<std::atomic<std::uint64_t>[]>((length >> kPieceShift) / kWordBits + 1)) {}

// Two threads may open the same piece, which is harmless.
bool SparseView::open_pieces(std::uint64_t first, std::uint64_t last) {
  const int protection = protection_of(rights_);
  for (std::uint64_t piece = first; piece <= last; ++piece) {
    if (is_open(piece)) continue;
    const std::uint64_t begin = piece << kPieceShift;
    const std::size_t length = std::min(std::size_t{1} << kPieceShift, length_ - begin);
    if (::mprotect(view_.data() + begin, length, protection) != 0) return false;
    open_[piece / kWordBits].fetch_or(std::uint64_t{1} << piece % kWordBits, std::memory_order_release);
  }
  return true;
}

}  // namespace softdat::memory
