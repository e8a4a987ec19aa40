// SPDX-License-Identifier: BSD-2-Clause
// The places of the locks of this room in the order of locks (base/lock_order.h).
#pragma once

#include <array>

#include "base/lock_order.h"

namespace softdat::locks {

inline constexpr base::LockPlace kOpenDevices{10, "open_devices",
                                              "a device opens, so that two threads that open one name get one device"};

inline constexpr std::array kOfBackends = {&kOpenDevices};

}  // namespace softdat::locks
