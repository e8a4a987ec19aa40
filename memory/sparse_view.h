// SPDX-License-Identifier: BSD-2-Clause
// SparseView: a mapping of a large shared file. Parts become accessible when they are first used, because mlockall()
// allocates all pages that are accessible.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "memory/shared_file.h"

namespace softdat::memory {

// Owns the mapping. Core dumps do not contain it. Any thread.
class SparseView {
 public:
  // Opened at a time. One that is used a little is filled by mlockall(), so it is small.
  static constexpr unsigned kPieceShift = 21;
  using Rights = SharedView::Rights;

  // Not usable, which operator bool tells, if the system refuses. Throws std::bad_alloc.
  SparseView(int file, std::uint64_t offset, std::size_t length, Rights rights);
  ~SparseView();
  SparseView(const SparseView&) = delete;
  SparseView& operator=(const SparseView&) = delete;

  explicit operator bool() const { return static_cast<bool>(view_); }
  // A child made by fork() does not get the mapping.
  void keep_from_children() const { view_.keep_from_children(); }
  std::size_t length() const { return length_; }
  // A caller opens a range before it touches it.
  std::byte* data() const { return view_.data(); }
  // Whether [offset, offset + length) of the view, which is not empty and lies within it, may be touched from now on.
  // False: the process has too many mappings. Where what is used lies in very many places, all of the view is opened,
  // because each place takes two mappings, and the consumer needs some too.
  bool open(std::uint64_t offset, std::uint64_t length) {
    const std::uint64_t first = offset >> kPieceShift;
    const std::uint64_t last = (offset + length - 1) >> kPieceShift;
    return (is_open(first) && (last == first || (last == first + 1 && is_open(last)))) || open_pieces(first, last);
  }

 private:
  static constexpr unsigned kWordBits = 64;

  // The pieces that may be touched.
  bool is_open(std::uint64_t piece) const {
    return (open_[piece / kWordBits].load(std::memory_order_acquire) >> (piece % kWordBits) & 1) != 0;
  }
  bool open_pieces(std::uint64_t first, std::uint64_t last);
  bool open_piece(std::uint64_t piece);
  bool open_all();
  std::size_t words() const { return (length_ >> kPieceShift) / kWordBits + 1; }

  const std::size_t length_;
  const Rights rights_;
  const SharedView view_;
  const std::unique_ptr<std::atomic<std::uint64_t>[]> open_;
  std::atomic<std::int64_t> opened_{0};  // pieces, one by one
};

}  // namespace softdat::memory
