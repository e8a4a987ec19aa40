// SPDX-License-Identifier: BSD-2-Clause
// Which addresses are this host's own.
#pragma once

#include <cstdint>

namespace softdat::transport::shm {

// Loopback, or an address of one of this host's interfaces. Asks the kernel; not for a data path.
bool is_local_address(std::uint32_t ipv4);

}  // namespace softdat::transport::shm
