// SPDX-License-Identifier: BSD-2-Clause
#include "transport/shm/ring_reader.h"

#include "transport/shm/ring_writer.h"

namespace softdat::transport::shm {

const std::byte* RingReader::record() const {
  return memory_.bytes + (position() & (memory_.size - 1));
}

void RingReader::consume(std::size_t bytes) {
  position_.store(position() + round_to_line(bytes), std::memory_order_relaxed);
}

bool RingReader::publish() {
  published_ = position();
  memory_.control->head.store(published_, std::memory_order_seq_cst);
  return memory_.control->wants_room.load(std::memory_order_seq_cst) != 0;
}

void RingReader::arm() {
  memory_.control->is_asleep.store(1, std::memory_order_seq_cst);
  // Pairs with RingWriter::claim_bell(); the value means nothing.
  static_cast<void>(memory_.control->pulse.load(std::memory_order_seq_cst));
}

void RingReader::disarm() {
  memory_.control->is_asleep.store(0, std::memory_order_seq_cst);
}

}  // namespace softdat::transport::shm
