// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/buffer_pool.h"

#include <cstring>
#include <new>

#include "base/assert.h"

namespace softdat::transport::tcp {

// Uninitialised on purpose: nothing is read that was not written first.
Storage BufferPool::make() {
  return Storage(new (std::nothrow) std::byte[kBufferSize]);
}

std::span<std::byte> ByteBuffer::room(std::size_t wanted) {
  // Out of memory: the caller loses the connection.
  if (!borrow()) return {};
  SOFTDAT_DEBUG_CHECK(begin_ <= end_ && end_ <= BufferPool::kBufferSize, "the bytes lie within the buffer", begin_,
                      end_);
  if (BufferPool::kBufferSize - end_ < wanted && begin_ > 0) {
    std::memmove(storage_.get(), storage_.get() + begin_, size());
    end_ -= begin_;
    begin_ = 0;
  }
  return {storage_.get() + end_, BufferPool::kBufferSize - end_};
}

}  // namespace softdat::transport::tcp
