// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/buffer_pool.h"

#include <cstring>
#include <new>
#include <utility>

namespace softdat::transport::tcp {

Storage BufferPool::take() {
  // Uninitialised on purpose: nothing is read that was not written first.
  if (free_.empty()) return Storage(new (std::nothrow) std::byte[kBufferSize]);
  Storage storage = std::move(free_.back());
  free_.pop_back();
  return storage;
}

void BufferPool::give(Storage storage) {
  if (free_.size() < kKept) free_.push_back(std::move(storage));
}

bool ByteBuffer::borrow() {
  if (!storage_) storage_ = pool_.take();
  return storage_ != nullptr;
}

std::span<std::byte> ByteBuffer::room(std::size_t wanted) {
  if (!borrow()) return {};
  if (BufferPool::kBufferSize - end_ < wanted && begin_ > 0) {
    std::memmove(storage_.get(), storage_.get() + begin_, size());
    end_ -= begin_;
    begin_ = 0;
  }
  return {storage_.get() + end_, BufferPool::kBufferSize - end_};
}

void ByteBuffer::consume(std::size_t length) {
  begin_ += length;
  if (begin_ == end_) begin_ = end_ = 0;
}

void ByteBuffer::release() {
  begin_ = end_ = 0;
  if (storage_) pool_.give(std::exchange(storage_, nullptr));
}

}  // namespace softdat::transport::tcp
