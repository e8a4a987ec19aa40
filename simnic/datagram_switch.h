// SPDX-License-Identifier: BSD-2-Clause
// DatagramSwitch: the datagram queue pairs of a NIC by number, and the links by which they reach
// others. Owned by the baton.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "simnic/datagram.h"

namespace softdat::simnic {

class DatagramLink;
class DatagramQueuePair;

class DatagramSwitch {
 public:
  // The first queue pair gets the number behind `last_number`.
  explicit DatagramSwitch(std::uint32_t last_number = 0) : last_number_(last_number) {}

  // The number that peers know the queue pair by.
  std::uint32_t add(DatagramQueuePair& queue_pair);
  void remove(std::uint32_t number) { queue_pairs_.erase(number); }

  // Links are known by numbers that are never used again, so that a post may outlive one.
  std::uint64_t add(DatagramLink& link);
  void remove_link(std::uint64_t number) { links_.erase(number); }
  DatagramLink* find_link(std::uint64_t number) const;

  // What arrived, to the queue pair that its head names; else nowhere.
  void route(const DatagramHead& head, const transport::Address& sender, std::span<const std::byte> data);

 private:
  std::uint32_t last_number_;
  std::uint64_t last_link_ = 0;
  std::unordered_map<std::uint32_t, DatagramQueuePair*> queue_pairs_;
  std::unordered_map<std::uint64_t, DatagramLink*> links_;
};

}  // namespace softdat::simnic
