// SPDX-License-Identifier: BSD-2-Clause
// Item: what one end of a loop connection says to the other. Internal to transport/loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "transport/message.h"
#include "transport/offer.h"

namespace softdat::transport::loop {

enum class ItemKind {
  kRequest,
  kReply,
  kRefusal,
  kConfirmation,
  kChunk,
  kBye,
  kTerminate,
};

struct Item {
  ItemKind kind = ItemKind::kChunk;
  base::Time due{};
  Offer offer{};                           // kRequest, kReply; kRefusal: private data
  Refusal refusal = Refusal::kNoListener;  // kRefusal
  Message message{};                       // kChunk; kTerminate: its code
  std::vector<std::byte> bytes{};          // kChunk
  std::uint64_t message_offset = 0;        // kChunk
  bool is_last = true;                     // kChunk
  std::size_t cost() const { return 64 + bytes.size(); }
};

}  // namespace softdat::transport::loop
