// SPDX-License-Identifier: BSD-2-Clause
// A datagram as it travels: a Send whose payload begins with a head that names both queue pairs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "hca/datagram.h"
#include "transport/offer.h"

namespace softdat::simnic {

inline constexpr std::uint32_t kMaxDatagram = 4096;
inline constexpr std::size_t kDatagramHeadSize = 16;
inline constexpr std::uint32_t kMaxQueuePairNumber = 0xff'ffff;

struct DatagramHead {
  std::uint32_t to = 0;  // queue pair numbers
  std::uint32_t from = 0;
  std::uint32_t from_ipv4 = 0;
  std::uint32_t length = 0;  // of what follows
  bool is_solicited = false;
  friend bool operator==(const DatagramHead&, const DatagramHead&) = default;
};

std::array<std::byte, kDatagramHeadSize> encode_datagram_head(const DatagramHead& head);
// Total; nothing when `message` is no whole datagram.
std::optional<DatagramHead> decode_datagram_head(std::span<const std::byte> message);

// `sender` counts where the head says none of IPv4. What stands before the data in the receiver's buffer.
std::array<std::byte, hca::kDatagramPrefix> make_datagram_prefix(const DatagramHead& head,
                                                                 const transport::Address& sender,
                                                                 const transport::Address& own);

// In the offers of an exchange no reads are spoken of: their two numbers are that of the queue pair.
void set_queue_pair_number(transport::Offer& offer, std::uint32_t number);
std::uint32_t queue_pair_number(const transport::Offer& offer);

}  // namespace softdat::simnic
