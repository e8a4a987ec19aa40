// SPDX-License-Identifier: BSD-2-Clause
// Which addresses are this host's own.
#pragma once

#include "base/ip_address.h"

namespace softdat::transport::shm {

// Loopback, or an address of one of this host's interfaces. Asks the kernel; not for a data path.
bool is_local_address(const base::IpAddress& address);

}  // namespace softdat::transport::shm
