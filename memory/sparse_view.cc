// SPDX-License-Identifier: BSD-2-Clause
#include "memory/sparse_view.h"

#include <sys/mman.h>

#include <algorithm>

#include "base/assert.h"

namespace softdat::memory {
namespace {

// Pieces of all views that were opened one by one. Each takes two mappings at most, of the 65,530 of a process.
constexpr std::int64_t kMostPieces = 4096;
constinit std::atomic<std::int64_t> g_opened{0};

}  // namespace

SparseView::SparseView(int file, std::uint64_t offset, std::size_t length, Rights rights)
    : length_(length),
      rights_(rights),
      view_(file, offset, length, Rights::kNone),
      open_(std::make_unique<std::atomic<std::uint64_t>[]>(words())) {}

SparseView::~SparseView() {
  g_opened.fetch_sub(opened_.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

bool SparseView::open_pieces(std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t piece = first; piece <= last; ++piece) {
    if (!is_open(piece) && !open_piece(piece)) return false;
  }
  return true;
}

// Two threads may open the same piece, which is harmless.
bool SparseView::open_piece(std::uint64_t piece) {
  base::check(piece <= (length_ - 1) >> kPieceShift, "a piece lies within the view", piece, length_);
  if (g_opened.load(std::memory_order_relaxed) >= kMostPieces) return open_all();
  const std::uint64_t begin = piece << kPieceShift;
  const std::size_t length = std::min(std::size_t{1} << kPieceShift, length_ - begin);
  if (::mprotect(view_.data() + begin, length, protection_of(rights_)) != 0) return false;
  opened_.fetch_add(1, std::memory_order_relaxed);
  g_opened.fetch_add(1, std::memory_order_relaxed);
  // After mprotect: a thread that sees the bit (is_open) may touch the piece at once.
  open_[piece / kWordBits].fetch_or(std::uint64_t{1} << piece % kWordBits, std::memory_order_release);
  return true;
}

// One mapping again.
bool SparseView::open_all() {
  if (::mprotect(view_.data(), length_, protection_of(rights_)) != 0) return false;
  g_opened.fetch_sub(opened_.exchange(0, std::memory_order_relaxed), std::memory_order_relaxed);
  for (std::size_t i = 0; i < words(); ++i) open_[i].store(~std::uint64_t{0}, std::memory_order_release);
  return true;
}

}  // namespace softdat::memory
