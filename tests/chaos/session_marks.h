// SPDX-License-Identifier: BSD-2-Clause
// What a session and its tracer know of each other.
#pragma once

namespace softdat::chaos {

// Requests of ioctl(-1, ...), which do nothing.
inline constexpr unsigned long kBegin = 0x5da70001;
inline constexpr unsigned long kEnd = 0x5da70002;

// Exit statuses.
inline constexpr int kSessionRefused = 3;
inline constexpr int kSessionCannotClose = 4;

}  // namespace softdat::chaos
