// SPDX-License-Identifier: BSD-2-Clause
// The consumers' private data on their way through a connection manager.
//
// InfiniBand's fills what it carries up with zeros and does not tell the length, so between our own
// peers the length stands behind the data, where a foreign consumer sees zeros nearly always. iWARP
// tells it. A refusal that no consumer has spoken is the mark alone on iWARP, whose own refusals are
// all alike.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "hca/connection.h"

namespace softdat::verbs {

// Of InfiniBand's request, with rdma_cm's own header taken off: 56 bytes, the last four ours.
inline constexpr std::size_t kMostOnInfiniBand = 52;
// Of iWARP: what Linux carries in either direction (iwarp driver siw: 251) less room to spare.
inline constexpr std::size_t kMostOnIwarp = 248;

class OutgoingPrivateData {
 public:
  // Requires no more than the transport carries.
  OutgoingPrivateData(std::span<const std::byte> data, bool is_iwarp);
  const void* data() const { return size_ == 0 ? nullptr : bytes_.data(); }
  std::uint8_t size() const { return size_; }

 private:
  std::array<std::byte, 256> bytes_{};
  std::uint8_t size_ = 0;
};

// What the peer's consumer has sent, from what its connection manager has.
hca::Bytes incoming_private_data(const hca::Bytes& carried, bool is_iwarp);

// The mark of a refusal, and whether that is one.
std::span<const std::byte> refusal_mark();
bool is_refusal_mark(const hca::Bytes& carried);

}  // namespace softdat::verbs
