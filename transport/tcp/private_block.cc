// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/private_block.h"

#include <algorithm>

#include "base/assert.h"
#include "base/byte_order.h"
#include "transport/tcp/crc32c.h"

namespace softdat::transport::tcp {
namespace {

using base::load_be;
using base::store_be;

constexpr std::uint32_t kMagic = 0x53444154;  // "SDAT"
constexpr std::uint8_t kVersion = 1;

// Where the fields of the block stand.
constexpr std::size_t kAtVersion = 4;
constexpr std::size_t kAtVerdict = 5;
constexpr std::size_t kAtLength = 6;
constexpr std::size_t kAtFeatures = 8;
constexpr std::size_t kAtIpv4 = 12;
constexpr std::size_t kAtServiceId = 16;
constexpr std::size_t kAtPort = 24;
constexpr std::size_t kAtReadsIn = 26;
constexpr std::size_t kAtReadsOut = 28;
constexpr std::size_t kAtReserved = 30;
constexpr std::size_t kAtCheck = 32;

std::uint16_t clamp_reads(std::uint32_t reads) {
  return static_cast<std::uint16_t>(std::min<std::uint32_t>(reads, UINT16_MAX));
}

// docs/WIRE.md, "The block in the private data", has the layout. The check sum is stored by the caller, over all before
// it.
void encode_block(const PrivateBlock& block, std::byte* to) {
  const Offer& offer = block.offer;
  store_be(to, kMagic);
  to[kAtVersion] = std::byte{kVersion};
  to[kAtVerdict] = static_cast<std::byte>(block.verdict);
  store_be(to + kAtLength, static_cast<std::uint16_t>(offer.private_data.size()));
  store_be(to + kAtFeatures, offer.features);
  store_be(to + kAtIpv4, offer.address.ipv4);
  store_be(to + kAtServiceId, offer.service_id);
  store_be(to + kAtPort, offer.address.port);
  store_be(to + kAtReadsIn, clamp_reads(offer.ird));
  store_be(to + kAtReadsOut, clamp_reads(offer.ord));
  store_be(to + kAtReserved, std::uint16_t{0});
}

// The sum covers the consumer's data too. So a foreign consumer's data that ends with "SDAT" by chance is no block.
bool is_ours(std::span<const std::byte> data, const std::byte* block) {
  return load_be<std::uint32_t>(block) == kMagic && block[kAtVersion] == std::byte{kVersion} &&
         block[kAtVerdict] <= static_cast<std::byte>(Verdict::kNoListener) &&
         load_be<std::uint16_t>(block + kAtLength) == data.size() - kPrivateBlockSize &&
         load_be<std::uint32_t>(block + kAtCheck) == crc32c(0, data.first(data.size() - sizeof(std::uint32_t)));
}

}  // namespace

std::vector<std::byte> encode_private_data(const PrivateBlock& block) {
  const std::vector<std::byte>& own = block.offer.private_data;
  base::check(own.size() <= kMaxPrivateData, "private data fits beside the block", own.size());
  std::vector<std::byte> bytes(own);
  bytes.resize(own.size() + kPrivateBlockSize);
  encode_block(block, bytes.data() + own.size());
  const std::span<const std::byte> checked = std::span(bytes).first(own.size() + kAtCheck);
  store_be(bytes.data() + checked.size(), crc32c(0, checked));
  return bytes;
}

// No block: a foreign peer, whose private data is all its consumer's.
std::optional<PrivateBlock> decode_private_data(std::span<const std::byte> private_data) {
  if (private_data.size() < kPrivateBlockSize) return std::nullopt;
  const std::size_t own = private_data.size() - kPrivateBlockSize;
  const std::byte* from = private_data.data() + own;
  if (!is_ours(private_data, from)) return std::nullopt;
  PrivateBlock block{.verdict = static_cast<Verdict>(from[kAtVerdict])};
  block.offer.address = {.ipv4 = load_be<std::uint32_t>(from + kAtIpv4),
                         .port = load_be<std::uint16_t>(from + kAtPort)};
  block.offer.service_id = load_be<std::uint64_t>(from + kAtServiceId);
  block.offer.features = load_be<std::uint32_t>(from + kAtFeatures);
  block.offer.ird = load_be<std::uint16_t>(from + kAtReadsIn);
  block.offer.ord = load_be<std::uint16_t>(from + kAtReadsOut);
  block.offer.private_data.assign(private_data.begin(), private_data.begin() + static_cast<std::ptrdiff_t>(own));
  return block;
}

}  // namespace softdat::transport::tcp
