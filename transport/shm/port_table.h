// SPDX-License-Identifier: BSD-2-Clause
// PortTable: the ports of one carrier by their service ids, and those that rest. A port that lacks descriptors or room
// in the reaper rests: nobody announces when there are some again. REQUIRES the baton, but for duty(). Owns no port.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "transport/shm/attention.h"

namespace softdat::transport::shm {

class ShmPort;

class PortTable {
 public:
  // Both outlive it.
  PortTable(Attention& attention, Reactor& reactor);

  // Throws std::bad_alloc, and the table is as it was.
  void add(std::uint64_t service_id, ShmPort& port) { ports_[service_id] = &port; }
  void remove(std::uint64_t service_id) { ports_.erase(service_id); }
  // Null: there is none.
  ShmPort* find(std::uint64_t service_id) const;

  // Has the port look again after a while.
  void rest(std::uint64_t service_id);
  bool are_resting() const { return !resting_.empty(); }
  // REQUIRES: some are resting.
  void turn(base::Time now);
  const Duty& duty() const { return duty_; }

 private:
  Attention& attention_;
  std::map<std::uint64_t, ShmPort*> ports_;
  std::vector<std::uint64_t> resting_;
  std::optional<base::Time> rest_until_;
  Duty duty_;
};

}  // namespace softdat::transport::shm
