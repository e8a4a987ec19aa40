// SPDX-License-Identifier: BSD-2-Clause
// What SoftDAT peers add to the MPA private data, behind the consumer's own (docs/WIRE.md). A
// foreign consumer still finds its data at offset 0; a peer without the block is a foreign one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "transport/offer.h"

namespace softdat::transport::tcp {

inline constexpr std::size_t kPrivateBlockSize = 36;

enum class Verdict : std::uint8_t {
  kNone = 0,        // a request, or a reply that says yes
  kByConsumer = 1,  // the listener's consumer said no
  kNoService = 2,   // this port serves another service id: try the next of the probe sequence
  kNoListener = 3,  // the right port, but it takes no request now
};

struct PrivateBlock {
  Verdict verdict = Verdict::kNone;
  Offer offer{};  // all of it, the consumer's private data included
};

// The consumer's private data with the block behind. Requires at most kMaxPrivateData of it.
std::vector<std::byte> encode_private_data(const PrivateBlock& block);

// Total; nothing when the data does not end in a whole block of a version we know.
std::optional<PrivateBlock> decode_private_data(std::span<const std::byte> private_data);

}  // namespace softdat::transport::tcp
