// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/gather_batch.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "base/assert.h"
#include "base/ordered_copy.h"

namespace softdat::transport::tcp {
namespace {

// Padding and the CRC field of an FPDU without CRC.
constexpr std::array<std::byte, kMaxTrailer> kZeros{};

}  // namespace

void GatherBatch::add(const std::byte* data, std::size_t length) {
  if (length == 0) return;
  SOFTDAT_DEBUG_CHECK(count_ < pieces_.size(), "a batch has room for the piece", count_);
  // sendmsg only reads, but iovec has no const.
  pieces_[count_++] = {const_cast<std::byte*>(data), length};
  bytes_ += length;
}

bool GatherBatch::add_payload(PayloadSource& payload, std::uint64_t offset, std::size_t length, bool& is_whole) {
  std::size_t done = 0;
  // Room for the slices of one gather, and one for the trailer.
  while (done < length && count_ + SliceList::kCapacity + 1 <= pieces_.size()) {
    SliceList slices;
    if (!payload.gather(offset + done, length - done, slices)) return false;
    const std::size_t before = done;
    for (const Slice& slice : slices.slices()) {
      const std::size_t part = std::min(slice.length, length - done);
      // Found before sendmsg: a page that cannot be read in the middle would make a short write, without a word why.
      if (!base::is_readable(slice.data, part)) return false;
      add(slice.data, part);
      done += part;
    }
    base::check(done > before, "a gather covers at least one byte");
  }
  is_whole = done == length;
  return true;
}

bool GatherBatch::add_fpdu(std::span<const std::byte> head, PayloadSource& payload, std::uint64_t offset,
                           std::size_t length, std::size_t trailer, std::size_t skip) {
  SOFTDAT_DEBUG_CHECK(fpdus_ < kMaxFpdus && head.size() <= kHeadSize, "a batch has room for the head", fpdus_,
                      head.size());
  SOFTDAT_DEBUG_CHECK(skip < head.size() + length + trailer, "the socket has a part of the first FPDU, not all of it",
                      skip, head.size() + length + trailer);
  SOFTDAT_DEBUG_CHECK(trailer <= kZeros.size(), "there are zeros for every trailer", trailer);
  const auto before = std::pair(count_, bytes_);
  // Heads must stay where they are until sendmsg() returns.
  auto& copy = heads_[fpdus_++];
  std::memcpy(copy.data(), head.data(), head.size());
  // The socket has the first `skip` bytes of this FPDU already, from an earlier partial write.
  const std::size_t of_head = std::min(skip, head.size());
  const std::size_t of_payload = std::min(skip - of_head, length);
  const std::size_t of_trailer = skip - of_head - of_payload;
  add(copy.data() + of_head, head.size() - of_head);
  bool is_whole = true;
  if (!add_payload(payload, offset + of_payload, length - of_payload, is_whole)) {
    std::tie(count_, bytes_) = before;
    return false;
  }
  if (is_whole) add(kZeros.data(), trailer - of_trailer);
  return true;
}

}  // namespace softdat::transport::tcp
