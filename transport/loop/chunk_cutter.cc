// SPDX-License-Identifier: BSD-2-Clause
#include "transport/loop/chunk_cutter.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/ordered_copy.h"

namespace softdat::transport::loop {

std::optional<Item> ChunkCutter::cut(const Message& message, PayloadSource* payload, std::size_t length) {
  std::optional<Item> item(Item{.message = message, .message_offset = taken_});
  item->bytes.resize(length);
  for (std::size_t done = 0; done < length;) {
    SliceList slices;
    const std::size_t before = done;
    if (!payload->gather(taken_ + before, length - before, slices)) return std::nullopt;
    for (const Slice& slice : slices.slices()) {
      const std::size_t part = std::min(slice.length, length - done);
      // The sender's memory is copied when the message is taken, so it may change or go afterwards.
      if (!base::copy_in(item->bytes.data() + done, slice.data, part)) return std::nullopt;
      done += part;
    }
    base::check(done > before, "a gather covers at least one byte");
  }
  taken_ += length;
  SOFTDAT_DEBUG_CHECK(taken_ <= payload_length(message), "a message has the bytes that were taken of it", taken_);
  item->is_last = taken_ == payload_length(message);
  return item;
}

std::uint64_t ChunkCutter::finish() {
  return std::exchange(taken_, 0);
}

}  // namespace softdat::transport::loop
