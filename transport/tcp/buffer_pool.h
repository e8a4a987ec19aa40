// SPDX-License-Identifier: BSD-2-Clause
// BufferPool: buffers of one size that connections borrow while they hold bytes, so that an idle connection has none.
// With the baton.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "base/assert.h"

namespace softdat::transport::tcp {

using Storage = std::unique_ptr<std::byte[]>;

class BufferPool {
 public:
  // Nearly two FPDUs of the largest size: a whole one beside a batch of small ones.
  static constexpr std::size_t kBufferSize = std::size_t{128} << 10;

  // Null if there is no memory. Inline, as give() is, because every poll of an idle connection borrows and returns a
  // buffer.
  Storage take() { return kept_ > 0 ? std::move(free_[--kept_]) : make(); }
  void give(Storage storage) {
    SOFTDAT_DEBUG_CHECK(storage != nullptr, "a buffer that is given back is there");
    if (kept_ < free_.size()) free_[kept_++] = std::move(storage);
  }

 private:
  static Storage make();

  std::size_t kept_ = 0;  // the first ones of free_
  std::array<Storage, 16> free_;
};

// A queue of bytes in a borrowed buffer: appended at the end, consumed at the front. With the baton.
class ByteBuffer {
 public:
  explicit ByteBuffer(BufferPool& pool) : pool_(pool) {}
  ~ByteBuffer() { release(); }
  ByteBuffer(const ByteBuffer&) = delete;
  ByteBuffer& operator=(const ByteBuffer&) = delete;

  std::span<const std::byte> bytes() const { return {storage_.get() + begin_, size()}; }
  std::size_t size() const { return end_ - begin_; }
  bool empty() const { return begin_ == end_; }

  // Borrows a buffer, which is kept until release(). False if there is no memory.
  bool borrow() {
    if (!storage_) storage_ = pool_.take();
    return storage_ != nullptr;
  }
  // Borrows a buffer and returns the space behind the bytes, of at least `wanted` bytes if moving them can make it.
  // Empty otherwise.
  std::span<std::byte> room(std::size_t wanted);
  // The largest space that room() can return.
  std::size_t free_space() const { return BufferPool::kBufferSize - size(); }
  void commit(std::size_t length) {
    SOFTDAT_DEBUG_CHECK(length == 0 || storage_ != nullptr, "bytes stand in a borrowed buffer");
    SOFTDAT_DEBUG_CHECK(length <= BufferPool::kBufferSize - end_, "what is committed was written into the room", length,
                        end_);
    end_ += length;
  }
  void consume(std::size_t length) {
    SOFTDAT_DEBUG_CHECK(length <= size(), "no more is consumed than is there", length, size());
    begin_ += length;
    if (begin_ == end_) begin_ = end_ = 0;
  }
  // Drops all bytes and gives the buffer back.
  void release() {
    begin_ = end_ = 0;
    if (storage_) pool_.give(std::move(storage_));
  }

 private:
  BufferPool& pool_;
  Storage storage_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace softdat::transport::tcp
