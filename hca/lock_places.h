// SPDX-License-Identifier: BSD-2-Clause
// The places of the locks of this room in the order of locks (base/lock_order.h).
#pragma once

#include <array>

#include "base/lock_order.h"

namespace softdat::locks {

inline constexpr base::LockPlace kReceiveAccounts{base::kLeafPlace, "ReceiveAccounts::mutex_",
                                                  "an account of an SRQ is opened"};

inline constexpr std::array kOfHca = {&kReceiveAccounts};

}  // namespace softdat::locks
