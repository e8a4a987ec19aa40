// SPDX-License-Identifier: BSD-2-Clause
// The Terminate message: RFC 5040 section 4.8. Pure codec.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "transport/message.h"

namespace softdat::transport::tcp {

// The largest that we send: control, length, an untagged header and a Read Request's.
inline constexpr std::size_t kMaxTerminateSize = 4 + 2 + 18 + 28;

struct Terminate {
  TerminateCode code;
  // Of the segment that was at fault, where the error is about one.
  std::optional<std::uint16_t> segment_length{};
  std::vector<std::byte> ddp_header{};
  std::vector<std::byte> rdmap_header{};  // of a Read Request
  friend bool operator==(const Terminate&, const Terminate&) = default;
};

// What to say about a segment: `head` is its DDP header and the RDMAP header behind, or empty when
// there is no segment to blame. Chooses what to quote as the RFC's table says. Never throws: without memory it quotes
// nothing.
Terminate make_terminate(const TerminateCode& code, std::uint16_t segment_length, std::span<const std::byte> head);

// Writes the body (what stands behind the DDP header) and returns its size; `to` has room for
// kMaxTerminateSize.
std::size_t encode_terminate(const Terminate& terminate, std::byte* to);

// Total over bodies of at least 4 bytes; a quotation that is cut short is left out.
Terminate decode_terminate(std::span<const std::byte> body);

}  // namespace softdat::transport::tcp
