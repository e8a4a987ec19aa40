// SPDX-License-Identifier: BSD-2-Clause
#include "transport/shm/port_table.h"

#include <chrono>
#include <new>
#include <utility>

#include "transport/shm/shm_port.h"

namespace softdat::transport::shm {
namespace {

constexpr base::Duration kPortsRest = std::chrono::milliseconds(100);

}  // namespace

PortTable::PortTable(Attention& attention, Reactor& reactor) : attention_(attention), duty_(reactor, kPortsRest) {}

ShmPort* PortTable::find(std::uint64_t service_id) const {
  const auto found = ports_.find(service_id);
  return found == ports_.end() ? nullptr : found->second;
}

// If there is no memory to note the rest, the port is looked at again at once.
void PortTable::rest(std::uint64_t service_id) try {
  attention_.stir();
  resting_.push_back(service_id);
} catch (const std::bad_alloc&) {
  if (ShmPort* const port = find(service_id)) port->look_again();
}

// Time comes from turns only, so a rest begins at the end of the turn in which it was asked for.
void PortTable::turn(base::Time now) {
  if (!rest_until_) rest_until_ = base::deadline_after(now, kPortsRest);
  if (now >= *rest_until_) {
    rest_until_.reset();
    for (const std::uint64_t service_id : std::exchange(resting_, {})) {
      if (ShmPort* const port = find(service_id)) port->look_again();
    }
  }
  duty_.note(!resting_.empty());
}

}  // namespace softdat::transport::shm
