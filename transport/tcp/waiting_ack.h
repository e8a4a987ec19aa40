// SPDX-License-Identifier: BSD-2-Clause
// WaitingAck: the ack that waits to ride in the header of the next send, for peers that agreed on it (docs/WIRE.md),
// and the last ack that the peer was sent, from which it counts. Baton only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "base/byte_order.h"
#include "transport/tcp/fpdu.h"
#include "transport/tcp/segment.h"

namespace softdat::transport::tcp {

class WaitingAck {
 public:
  // Has `ack` wait, in place of an older one. False: it must go as a note, because the field of the header, which says
  // how many more requests have been carried out than the peer knows of, cannot hold it.
  bool offer(std::uint64_t ack) {
    if (ack <= told_ || ack - told_ > std::numeric_limits<std::uint32_t>::max()) return false;
    waiting_ = ack;
    return true;
  }
  bool is_waiting() const { return waiting_.has_value(); }

  // These two REQUIRE is_waiting(). Writes it into the field of the DDP header that only a send with invalidate uses.
  void put_into(std::byte* fpdu) const {
    SOFTDAT_DEBUG_CHECK(*waiting_ > told_, "an ack that waits is newer than the last one", *waiting_, told_);
    base::store_be(fpdu + kLengthSize + kAtStag, static_cast<std::uint32_t>(*waiting_ - told_));
  }
  // It goes to the peer now, and so waits no longer.
  std::uint64_t take() { return told_ = *std::exchange(waiting_, std::nullopt); }
  // An ack goes to the peer as a note.
  void note_told(std::uint64_t ack) { told_ = ack; }

 private:
  std::optional<std::uint64_t> waiting_;
  std::uint64_t told_ = 0;
};

}  // namespace softdat::transport::tcp
