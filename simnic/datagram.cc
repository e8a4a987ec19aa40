// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/datagram.h"

#include <cstring>

#include "base/byte_order.h"
#include "base/narrow.h"

namespace softdat::simnic {
namespace {

using base::load_be;
using base::store_be;

constexpr std::uint32_t kSolicited = 1u << 31;
constexpr unsigned kNumberBits = 12;
constexpr std::uint32_t kNumberMask = (1u << kNumberBits) - 1;

// Offsets in InfiniBand's global route header.
constexpr std::size_t kAtVersion = 0;
constexpr std::size_t kAtPayloadLength = 4;
constexpr std::size_t kAtNextHeader = 6;
constexpr std::size_t kAtHopLimit = 7;
constexpr std::size_t kAtSource = 8;
constexpr std::size_t kAtDestination = 24;

// An IPv4 address as a port's identifier: mapped into IPv6.
void store_identifier(std::byte* to, const transport::Address& address) {
  if (address.is_ipv6()) {
    std::memcpy(to, address.ipv6.bytes.data(), address.ipv6.bytes.size());
    return;
  }
  store_be(to + 8, std::uint32_t{0x0000'ffff});
  store_be(to + 12, address.ipv4);
}

}  // namespace

// docs/WIRE.md, "Datagrams", has the layout.
std::array<std::byte, kDatagramHeadSize> encode_datagram_head(const DatagramHead& head) {
  std::array<std::byte, kDatagramHeadSize> bytes{};
  store_be(bytes.data(), head.to);
  store_be(bytes.data() + 4, head.from);
  store_be(bytes.data() + 8, head.from_ipv4);
  store_be(bytes.data() + 12, head.length | (head.is_solicited ? kSolicited : 0));
  return bytes;
}

std::optional<DatagramHead> decode_datagram_head(std::span<const std::byte> message) {
  if (message.size() < kDatagramHeadSize) return std::nullopt;
  const auto length = load_be<std::uint32_t>(&message[12]);
  const DatagramHead head{.to = load_be<std::uint32_t>(&message[0]),
                          .from = load_be<std::uint32_t>(&message[4]),
                          .from_ipv4 = load_be<std::uint32_t>(&message[8]),
                          .length = length & ~kSolicited,
                          .is_solicited = (length & kSolicited) != 0};
  // The peer may be any program: believe no length but that of the message itself.
  if (head.length != message.size() - kDatagramHeadSize || head.length > kMaxDatagram) return std::nullopt;
  return head;
}

std::array<std::byte, hca::kDatagramPrefix> make_datagram_prefix(const DatagramHead& head,
                                                                 const transport::Address& sender,
                                                                 const transport::Address& own) {
  std::array<std::byte, hca::kDatagramPrefix> bytes{};
  // As InfiniBand's global route header: IP version 6, next header 0x1b (the InfiniBand transport).
  bytes[kAtVersion] = std::byte{0x60};
  store_be(bytes.data() + kAtPayloadLength, base::narrow<std::uint16_t>(head.length));
  bytes[kAtNextHeader] = std::byte{0x1b};
  bytes[kAtHopLimit] = std::byte{0xff};
  store_identifier(bytes.data() + kAtSource, head.from_ipv4 == 0 ? sender : transport::Address{.ipv4 = head.from_ipv4});
  store_identifier(bytes.data() + kAtDestination, own);
  return bytes;
}

// Datagrams have no reads, so IRD and ORD, which every MPA frame of revision 2 carries, hold the number (docs/WIRE.md,
// "Datagrams").
void set_queue_pair_number(transport::Offer& offer, std::uint32_t number) {
  offer.ird = number & kNumberMask;
  offer.ord = number >> kNumberBits & kNumberMask;
}

std::uint32_t queue_pair_number(const transport::Offer& offer) {
  return (offer.ird & kNumberMask) | (offer.ord & kNumberMask) << kNumberBits;
}

}  // namespace softdat::simnic
