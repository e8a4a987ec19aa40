// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/datagram_switch.h"

#include "simnic/datagram_queue_pair.h"
#include "simnic/lock_places.h"

namespace softdat::simnic {

// 0 names no queue pair. There are fewer queue pairs than numbers, so the loop ends.
std::uint32_t DatagramSwitch::add(DatagramQueuePair& queue_pair) {
  base::require_lock(locks::kBaton);
  do {
    last_number_ = last_number_ == kMaxQueuePairNumber ? 1 : last_number_ + 1;
  } while (queue_pairs_.contains(last_number_));
  queue_pairs_.emplace(last_number_, &queue_pair);
  return last_number_;
}

std::uint64_t DatagramSwitch::add(DatagramLink& link) {
  base::require_lock(locks::kBaton);
  links_.emplace(++last_link_, &link);
  return last_link_;
}

DatagramLink* DatagramSwitch::find_link(std::uint64_t number) const {
  base::require_lock(locks::kBaton);
  const auto found = links_.find(number);
  return found == links_.end() ? nullptr : found->second;
}

// A datagram for a number that no queue pair has is dropped.
void DatagramSwitch::route(const DatagramHead& head, const transport::Address& sender,
                           std::span<const std::byte> data) {
  const auto found = queue_pairs_.find(head.to);
  if (found != queue_pairs_.end()) found->second->receive_with_baton(head, sender, data);
}

}  // namespace softdat::simnic
