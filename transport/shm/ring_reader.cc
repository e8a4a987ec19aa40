// SPDX-License-Identifier: BSD-2-Clause
#include "transport/shm/ring_reader.h"

namespace softdat::transport::shm {

bool RingReader::publish() {
  published_ = position_;
  // Store, then load; pairs with RingWriter::want_room(), which stores the wish and then loads the head. Either the
  // writer sees the room, or the reader sees the wish.
  memory_.control->head.store(published_, std::memory_order_seq_cst);
  return memory_.control->wants_room.load(std::memory_order_seq_cst) != 0;
}

bool RingReader::arm() {
  memory_.control->is_asleep.store(1, std::memory_order_seq_cst);
  if (fence_ == SleepFence::kConsumer) return true;
  // Pairs with RingWriter::claim_bell(); the value means nothing.
  static_cast<void>(memory_.control->pulse.load(std::memory_order_seq_cst));
  return false;
}

void RingReader::disarm() {
  memory_.control->is_asleep.store(0, std::memory_order_seq_cst);
}

}  // namespace softdat::transport::shm
