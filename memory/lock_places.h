// SPDX-License-Identifier: BSD-2-Clause
// The places of the locks of this room in the order of locks (base/lock_order.h).
#pragma once

#include <array>

#include "base/lock_order.h"

namespace softdat::locks {

inline constexpr base::LockPlace kArenaCreation{125, "Arena::of_process()", "the arena of the process is made"};
inline constexpr base::LockPlace kFollowers{130, "Followers::mutex", "an arena is listed, and during a fork"};
inline constexpr base::LockPlace kArena{140, "Arena::mutex_", "pages are moved into or out of the arena", true};
inline constexpr base::LockPlace kLentPages{150, "LentPages::mutex_", "pages are lent, taken back or retired", true};

inline constexpr std::array kOfMemory = {&kArenaCreation, &kFollowers, &kArena, &kLentPages};

}  // namespace softdat::locks
