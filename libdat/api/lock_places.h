// SPDX-License-Identifier: BSD-2-Clause
// The places of the locks of this room in the order of locks (base/lock_order.h).
#pragma once

#include <array>

#include "base/lock_order.h"

namespace softdat::locks {

inline constexpr base::LockPlace kVoidHandle{845, "void_mutex", "the handle for void fields is made"};

inline constexpr std::array kOfApi = {&kVoidHandle};

}  // namespace softdat::locks
