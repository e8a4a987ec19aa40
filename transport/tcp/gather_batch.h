// SPDX-License-Identifier: BSD-2-Clause
// GatherBatch: the pieces of one sendmsg. Holds pointers into consumer memory, so it never outlives
// the call that built it.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <span>

#include "transport/channel.h"
#include "transport/tcp/fpdu.h"

namespace softdat::transport::tcp {

class GatherBatch {
 public:
  static constexpr std::size_t kMaxFpdus = 18;
  static constexpr std::size_t kHeadSize = 20;

  // The pieces so far; bytes() of them in all.
  std::span<iovec> pieces() { return std::span(pieces_).first(count_); }
  std::size_t bytes() const { return bytes_; }
  bool has_room() const { return fpdus_ < kMaxFpdus && count_ + SliceList::kCapacity + 2 <= pieces_.size(); }

  void add(const std::byte* data, std::size_t length);
  // Adds an FPDU from its byte `skip` on. Its head is copied; its payload is [offset, offset +
  // length) of the source. May end early for want of room. False, and nothing added, when a gather fails or a page of
  // the payload cannot be read: an FPDU that the socket takes in part cannot be taken back.
  bool add_fpdu(std::span<const std::byte> head, PayloadSource& payload, std::uint64_t offset, std::size_t length,
                std::size_t trailer, std::size_t skip);

 private:
  bool add_payload(PayloadSource& payload, std::uint64_t offset, std::size_t length, bool& is_whole);

  std::array<iovec, 128> pieces_;
  std::array<std::array<std::byte, kHeadSize>, kMaxFpdus> heads_;
  std::size_t count_ = 0;
  std::size_t fpdus_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace softdat::transport::tcp
