// SPDX-License-Identifier: BSD-2-Clause
// Buffers of one size that connections borrow while they have something in them, so that an idle
// connection owns none. Baton only.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

namespace softdat::transport::tcp {

using Storage = std::unique_ptr<std::byte[]>;

class BufferPool {
 public:
  // Two FPDUs of the largest size, nearly: one whole one beside a batch of small ones.
  static constexpr std::size_t kBufferSize = std::size_t{128} << 10;

  // Null when there is no memory. In line, as give() is: every look at a connection without news borrows and returns.
  Storage take() { return kept_ > 0 ? std::move(free_[--kept_]) : make(); }
  void give(Storage storage) {
    if (kept_ < free_.size()) free_[kept_++] = std::move(storage);
  }

 private:
  static Storage make();

  std::size_t kept_ = 0;  // the first ones of free_
  std::array<Storage, 16> free_;
};

// A queue of bytes in borrowed storage: filled behind, consumed in front.
class ByteBuffer {
 public:
  explicit ByteBuffer(BufferPool& pool) : pool_(pool) {}
  ~ByteBuffer() { release(); }
  ByteBuffer(const ByteBuffer&) = delete;
  ByteBuffer& operator=(const ByteBuffer&) = delete;

  std::span<const std::byte> bytes() const { return {storage_.get() + begin_, size()}; }
  std::size_t size() const { return end_ - begin_; }
  bool empty() const { return begin_ == end_; }

  // False when there is no memory for storage. Until the next release() there is room then.
  bool borrow() {
    if (!storage_) storage_ = pool_.take();
    return storage_ != nullptr;
  }
  // Room behind the bytes, of at least `wanted` bytes if compaction can make it; borrows storage. Empty when it cannot.
  std::span<std::byte> room(std::size_t wanted);
  // What room(anything) could give.
  std::size_t free_space() const { return BufferPool::kBufferSize - size(); }
  void commit(std::size_t length) { end_ += length; }
  void consume(std::size_t length) {
    begin_ += length;
    if (begin_ == end_) begin_ = end_ = 0;
  }
  // Drops everything and gives the storage back.
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
