// SPDX-License-Identifier: BSD-2-Clause
// Neighbours: two processes of one host that both share memory with others, and talk to each other by TCP. Their users
// differ, or their mounts (docs/decisions/0014).
#pragma once

#include <cstdint>

#include "base/ip_address.h"

namespace softdat::transport::tcp {

// Each logs a warning, and no more than one of all is logged in this process. Any thread.
void warn_of_served_neighbour(const base::IpAddress& address, std::uint64_t service_id);
void warn_of_asking_neighbour(const base::IpAddress& address);

}  // namespace softdat::transport::tcp
